/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a table's batches one after another: of samples (samples.c) or of events (events.c). Its
 * memory is bounded by one batch, and by the texts that are kept of one chunk. Nothing here needs
 * the GIL.
 */
#ifndef HOTSTACK_PRODUCER_H
#define HOTSTACK_PRODUCER_H

#include "inputs/inputs.h"

#include "arrow.h"

/* A batch ends at the first of these. */
#define BATCH_ROWS 65536
#define BATCH_TEXT ((size_t)16 << 20)

typedef struct producer producer;

struct producer {
    /* Adds rows to `rows` until producer_is_full or the inputs end. A batch begins when `rows` has
     * none. Returns 1 when there may be more, 0 at the end, -1 on failure. */
    int (*fill)(producer *p, failure *f);
    void (*free)(producer *p);
    walk w;
    table rows;
    size_t text;       /* bytes that went to the batch's dictionaries, at most */
    int64_t row_limit; /* `fill` is to stop at this many rows ... */
    size_t text_limit; /* ... or at this much text */
    bool ended;
};

/* Returns whether a batch has no row yet. */
static inline bool producer_is_empty(const producer *p)
{
    return table_rows(&p->rows) == 0;
}

/* Returns whether `fill` must stop. */
static inline bool producer_is_full(const producer *p)
{
    return table_rows(&p->rows) >= p->row_limit || p->text >= p->text_limit;
}

/* Makes the next batch, which is never empty. Returns 1 with it, 0 at the end, -1 on failure. */
int producer_next(producer *p, struct ArrowArray *out, failure *f);
/*
 * Adds the rows of a batch to those of `rows`, and packs their texts, so that `rows` can hold the
 * whole table. Do not call producer_next on it then. Returns 1 when there may be more, 0 at the
 * end, -1 on failure.
 */
int producer_grow(producer *p, failure *f);
/* Frees a producer. NULL is allowed. */
void producer_free(producer *p);

/* The columns that a table of samples can have, and how many there are. */
extern const char *const sample_columns[];
size_t sample_column_count(void);

typedef struct sample_request {
    const size_t *columns; /* indices of sample_columns */
    size_t count;
    uint32_t types; /* bits of jfr_profile_type */
    int64_t from_ns, to_ns;
} sample_request;

/* Opens a table of samples. NULL on failure. */
producer *samples_open(inputs *in, const sample_request *request, failure *f);

typedef struct event_request {
    const char *type;           /* whole name */
    const char *const *columns; /* paths; NULL = those of the type's fields */
    size_t count;
    bool input; /* a last column, "input", with the name of a row's input */
    int64_t from_ns, to_ns;
} event_request;

/* Opens a table of events. NULL on failure; FAILURE_USAGE when no chunk has the type or a given
 * column. */
producer *events_open(inputs *in, const event_request *request, failure *f);

/* The codes of texts in the batch's dictionary, one for each dense index of a chunk. They are
 * dropped when a batch or a chunk ends. */
typedef struct codes {
    uint32_t *at; /* code + 1; 0 = none yet */
    uint32_t count;
    uint32_t *used;
    uint32_t used_count;
    uint32_t used_room;
} codes;

bool codes_size(codes *c, uint32_t count);
/* Returns false when the index has no code yet. */
static inline bool codes_get(const codes *c, uint32_t index, uint32_t *code)
{
    if (index >= c->count || c->at[index] == 0)
        return false;
    *code = c->at[index] - 1;
    return true;
}
bool codes_set(codes *c, uint32_t index, uint32_t code);
void codes_forget(codes *c);
void codes_free(codes *c);

#endif
