/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the files that collect and write the reports of collectors. */
#ifndef BACKEND_WRITE_REPORTS_H
#define BACKEND_WRITE_REPORTS_H

#include "table.h"

/* The size of a row without its texts. */
enum { ROW_BYTES = 200 };

typedef struct heartbeat_row {
    const heartbeat *beat;
    uint64_t received_ms;
} heartbeat_row;

/* Each table of reports has three functions: begin makes an empty block, put appends a report's
 * rows, weigh returns about how many bytes they take. A report is a status_batch, or a
 * heartbeat_row. */
int clickhouse__begin_status(table *t, store_error *err);
void clickhouse__put_status(table *t, const void *report);
size_t clickhouse__weigh_status(const void *report);
int clickhouse__begin_heartbeat(table *t, store_error *err);
void clickhouse__put_heartbeat(table *t, const void *report);
size_t clickhouse__weigh_heartbeat(const void *report);

#endif
