/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes each stack of one chunk once: its id, its leaf, its text. Needs no GIL. */
#ifndef HOTSTACK_STACKS_H
#define HOTSTACK_STACKS_H

#include "module/failure.h"
#include "tables/arrow.h"

typedef struct stack_row {
    bool known;
    bool good; /* false: no stack, or a damaged one */
    sagg_stack_id id;
} stack_row;

/* A normalised method: its name, and its frame id with line 0. */
typedef struct method_row {
    char *name; /* "class.method"; NULL = not decoded yet */
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

/* Returns 1 with the name of a stack's leaf, 0 when there is none or it is damaged, -1 on failure.
 * It takes far less time than the stack's row. The name is borrowed until stack_cache_begin. */
int stack_cache_leaf(stack_cache *c, uint32_t stack, const char **name, failure *f);

/* Returns the row of a stack, with `good` false for JFR_NONE. NULL on failure (memory). */
const stack_row *stack_cache_row(stack_cache *c, uint32_t stack, failure *f);

/* Appends the stack's frame names from root to leaf with ';' between them. Returns 1 with them, 0
 * when the stack is not good, -1 on failure. The caller frees `out`. */
int stack_cache_text(stack_cache *c, uint32_t stack, bytes *out, failure *f);

#endif
