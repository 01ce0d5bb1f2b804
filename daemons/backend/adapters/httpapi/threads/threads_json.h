/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the objects of docs/reference/query-api.md from reports of threads, locks and deadlocks.
 * Each function returns a new object; NULL: no memory. */
#ifndef BACKEND_THREADS_JSON_H
#define BACKEND_THREADS_JSON_H

#include <jansson.h>

#include "threads.h"

json_t *json_threads(const thread_report *report);
json_t *json_lanes(const thread_report *report, const store_filter *filter);
json_t *json_one_thread(const thread_report *report);
json_t *json_locks(const thread_report *report);
json_t *json_deadlocks(const thread_report *report);
/* Makes the first deadlock of the report, with its stacks. */
json_t *json_deadlock(const thread_report *report);

#endif
