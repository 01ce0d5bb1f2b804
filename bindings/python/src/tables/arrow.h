/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of columns, exported through the Arrow C data interface and C stream interface. The three
 * structs below are their ABI (Apache Arrow, "The Arrow C data interface", "The Arrow C stream
 * interface"). Nothing here needs the GIL.
 */
#ifndef HOTSTACK_ARROW_H
#define HOTSTACK_ARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* The kind of a column's values. The order is that of widening: see column_kind_join. */
enum column_kind {
    COLUMN_BOOL = 0,
    COLUMN_INT,    /* int64 */
    COLUMN_UINT,   /* uint64 */
    COLUMN_DOUBLE, /* float64 */
    COLUMN_TIME,   /* timestamp[ns, UTC] */
    COLUMN_SPAN,   /* duration[ns] */
    COLUMN_TEXT,   /* dictionary<int32, utf8>, a dictionary a batch */
};

/* Returns the kind that can hold the values of both. */
enum column_kind column_kind_join(enum column_kind a, enum column_kind b);

typedef struct bytes {
    unsigned char *data;
    size_t size;
    size_t room;
} bytes;

/* Makes room for `more` bytes. Returns false without memory. */
bool bytes_reserve(bytes *b, size_t more);
bool bytes_add(bytes *b, const void *data, size_t size);
void bytes_free(bytes *b);

/* One column of the batch in progress. */
typedef struct column {
    char *name;
    enum column_kind kind;
    bytes values;   /* 8 bytes a row; of text the codes, 4; of bool a bit */
    bytes validity; /* a bit a row, allocated at the first null */
    int64_t rows;
    int64_t nulls;
    bytes text;    /* of text: the dictionary's strings ... */
    bytes offsets; /* ... and where each begins, int32 */
    uint32_t words;
    uint32_t *slots; /* finds a string: its code + 1 by its hash; a power of two of them, or none */
    uint32_t slot_count;
    bytes packed; /* of text: codes that column_pack took out of `values` ... */
    size_t width; /* ... and how many bytes each has there */
    int64_t packed_rows;
} column;

typedef struct table {
    column *columns;
    size_t count;
    int64_t bare_rows; /* of a table without columns */
} table;

static inline int64_t table_rows(const table *t)
{
    return t->count > 0 ? t->columns[0].rows : t->bare_rows;
}

/* Return false without memory; call table_free in any case. Names are copied. */
bool table_init(table *t, size_t count);
bool table_name(table *t, size_t index, const char *name, enum column_kind kind);
void table_free(table *t);

/* Append one value. Return false without memory. Functions that run for every row are inline. */
bool column_add_null(column *c);
bool column_add_bool(column *c, bool value);
/* Marks rows that were added as rows without nulls. Only for the functions below. */
bool column_mark_rows(column *c, size_t count);

static inline bool column_end_row(column *c)
{
    if (c->nulls > 0)
        return column_mark_rows(c, 1);
    c->rows++;
    return true;
}

static inline bool column_add_bits(column *c, const void *eight_bytes)
{
    if (c->values.room - c->values.size < 8 && !bytes_reserve(&c->values, 8))
        return false;
    memcpy(c->values.data + c->values.size, eight_bytes, 8);
    c->values.size += 8;
    return column_end_row(c);
}

static inline bool column_add_code(column *c, uint32_t code)
{
    if (c->values.room - c->values.size < 4 && !bytes_reserve(&c->values, 4))
        return false;
    memcpy(c->values.data + c->values.size, &code, 4);
    c->values.size += 4;
    return column_end_row(c);
}

static inline bool column_add_int(column *c, int64_t value)
{
    return column_add_bits(c, &value);
}

/* Room for `count` > 0 rows of `width` bytes at once, to be filled and ended with column_end_rows.
 * NULL without memory. */
static inline void *column_room(column *c, size_t count, size_t width)
{
    if (c->values.room - c->values.size < count * width &&
        !bytes_reserve(&c->values, count * width))
        return NULL;
    void *room = c->values.data + c->values.size;
    c->values.size += count * width;
    return room;
}

static inline bool column_end_rows(column *c, size_t count)
{
    if (c->nulls > 0)
        return column_mark_rows(c, count);
    c->rows += (int64_t)count;
    return true;
}

/* Finds or adds a string in a text column's dictionary, which has each string once, and sets its
 * code. Returns false without memory, or when the dictionary would pass 2 GiB. */
bool column_word(column *c, const char *data, size_t size, uint32_t *code);

/*
 * Moves the codes of a text column from `values` into `packed`, signed, with -1 for null. They are
 * as narrow as the codes of pandas for that many words: 1 byte below 127, 2 below 32,767, else 4.
 * Codes that were packed before are widened when the words need it. Returns false without memory.
 * Such a column cannot go to table_finish.
 */
bool column_pack(column *c);
/* Empties the column as it was at the beginning. */
void column_empty(column *c);

/* Moves the rows into `out`, a struct array; the table is empty afterwards. Returns 0 or ENOMEM. */
int table_finish(table *t, struct ArrowArray *out);
/* Makes the table's schema. Returns 0 or ENOMEM. */
int table_schema(const table *t, struct ArrowSchema *out);
/* Copies a schema that table_schema made. Returns 0 or ENOMEM. */
int schema_copy(const struct ArrowSchema *from, struct ArrowSchema *out);

#endif
