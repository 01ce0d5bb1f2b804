/* SPDX-License-Identifier: Apache-2.0 */
/* An aggregate's rows, and the names of its frames, in an order that does not depend on the order
 * in which they were added. */
#ifndef HOTSTACK_CLI_TABLE_ORDER_H
#define HOTSTACK_CLI_TABLE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stackagg/stackagg.h>

/* Entries, and the ids of their stacks. */
typedef struct table_rows {
    const sagg *agg;
    sagg_entry *rows;
    size_t count, room;
    sagg_stack_id *ids; /* by stack: its id */
} table_rows;

/* Collects the rows of the types (bits), in no order. Returns false without memory; free it in both
 * cases. */
bool table_rows_collect(table_rows *out, const sagg *agg, uint32_t types);
/* Sorts the rows by type, thread and stack id. */
void table_rows_sort(table_rows *rows);
void table_rows_free(table_rows *rows);

/* Compares the ids of two stacks: less than, equal to or greater than 0. */
int table_stack_order(const table_rows *rows, uint32_t left, uint32_t right);
/* Compares two threads in the same way. */
int table_thread_order(const sagg *agg, uint32_t left, uint32_t right);

/* Frames sorted by "class.method"; frames with the same name have the same number. */
typedef struct table_names {
    uint32_t *order;  /* frames in the order of their names */
    uint32_t *number; /* by frame: the number of its name, from 0 */
    uint32_t frames, names;
} table_names;

/* Returns false without memory; free it in both cases. */
bool table_names_make(table_names *out, const sagg *agg);
void table_names_free(table_names *names);

#endif
