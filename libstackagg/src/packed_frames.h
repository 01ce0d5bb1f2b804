/* SPDX-License-Identifier: Apache-2.0 */
/* The table of frames that the profiles of a packed document share. */
#ifndef STACKAGG_PACKED_FRAMES_H
#define STACKAGG_PACKED_FRAMES_H

#include "packed.h"
#include "tree.h"

/* A name: a kind, a class and a method, with the lines that occur of it. */
typedef struct sagg__packed_name {
    const sagg_frame *frame;
    uint64_t uses;  /* nodes of all profiles */
    uint32_t first; /* in `order` */
    uint32_t count;
} sagg__packed_name;

typedef struct sagg__packed_frames {
    sagg__mem *mem;
    const sagg_frame **frames; /* of all profiles, one after the other */
    uint32_t *ids;             /* by the same numbers: the document's */
    uint32_t *order;           /* numbers of `frames`, sorted */
    uint32_t count;
    sagg__packed_name *names;
    uint32_t *name_order;
    uint32_t name_count;
    uint32_t id_count;
    bool lines; /* some frame has a line */
} sagg__packed_frames;

/* Collects and numbers the frames. Returns 0 or SAGG_E_NOMEM; free it in both cases. */
int sagg__packed_frames_new(sagg__packed_frames *out, sagg__mem *mem, const sagg__packed *document);
void sagg__packed_frames_free(sagg__packed_frames *frames);

/* Writes the members "names", "kinds", and what else the table needs. Returns 0 or SAGG_E_NOMEM. */
int sagg__packed_frames_write(const sagg__packed_frames *frames, sagg__emit *emit);

#endif
