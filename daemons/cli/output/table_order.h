/* SPDX-License-Identifier: Apache-2.0 */
/* An aggregate's rows, and its frames' names, in an order that does not depend on how they came. */
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
    sagg_stack_id *ids; /* by stack */
} table_rows;

/* Those of types (bits), in no order. False = no memory; free it in both cases. */
bool table_rows_collect(table_rows *out, const sagg *agg, uint32_t types);
/* Orders them by type, thread and stack id. */
void table_rows_sort(table_rows *rows);
void table_rows_free(table_rows *rows);

/* Less than, equal to or greater than 0: which of two stacks has the smaller id. */
int table_stack_order(const table_rows *rows, uint32_t left, uint32_t right);
/* The same of two threads: which comes first. */
int table_thread_order(const sagg *agg, uint32_t left, uint32_t right);

/* Frames by "class.method": those that share one have one number. */
typedef struct table_names {
    uint32_t *order;  /* frames in the order of their names */
    uint32_t *number; /* by frame: its name's, from 0 on */
    uint32_t frames, names;
} table_names;

/* False = no memory; free it in both cases. */
bool table_names_make(table_names *out, const sagg *agg);
void table_names_free(table_names *names);

#endif
