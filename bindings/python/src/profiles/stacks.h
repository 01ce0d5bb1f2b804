/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of one chunk, each decoded once: its id, its leaf, its text. Needs no GIL. */
#ifndef HOTSTACK_STACKS_H
#define HOTSTACK_STACKS_H

#include "module/failure.h"
#include "tables/arrow.h"

typedef struct stack_row {
    bool known;
    bool good; /* false: no stack, or a damaged one */
    sagg_stack_id id;
} stack_row;

/* A method as normalised: its name, and the frame id it has with line 0. */
typedef struct method_row {
    char *name; /* "class.method"; NULL = not met yet */
    uint64_t frame_id;
} method_row;

typedef struct stack_cache {
    jfr_chunk *chunk;
    stack_row *rows;
    uint32_t stack_count;
    method_row *methods; /* by method and kind */
    uint32_t method_count;
    jfr_frame_ref *refs; /* of the stack decoded last */
    uint64_t *ids;
    uint32_t room;
} stack_cache;

/* Starts over with a chunk; false without memory. */
bool stack_cache_begin(stack_cache *c, jfr_chunk *chunk);
void stack_cache_end(stack_cache *c);

/* A stack's leaf alone, many times cheaper than its row: 1 with its name, borrowed until
 * stack_cache_begin, 0 when there is none or it is damaged, -1. */
int stack_cache_leaf(stack_cache *c, uint32_t stack, const char **name, failure *f);

/* A stack of the chunk, or one that is not good for JFR_NONE. NULL on failure (memory). */
const stack_row *stack_cache_row(stack_cache *c, uint32_t stack, failure *f);

/* Its frames' names from root to leaf with ';' between them. 1 with it, 0 when the stack is not
 * good, -1. The caller frees `out`. */
int stack_cache_text(stack_cache *c, uint32_t stack, bytes *out, failure *f);

#endif
