/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the collector's suites: sample profiles and batches, a temporary directory. */
#ifndef COLLECTOR_TESTS_H
#define COLLECTOR_TESTS_H

#include "../core/collector.h"
#include "../core/uploader.h"

#include <check.h>

/* Noon of a UTC day. */
#define NOON UINT64_C(1700049600000)

/* Makes a profile with `parts` types of `rows` rows each; every row has another stack, value = 10 x
 * i. */
void sample_profile(profile *out, uint32_t parts, uint32_t rows);

/* Makes a JVM with that pid. */
local_jvm sample_jvm(uint32_t pid);

/* Makes a batch with `windows` windows of that many rows each, all of one JVM, from NOON on. */
void sample_batch(batch *out, uint8_t id_byte, uint32_t windows, uint32_t rows);

/* Make and remove a directory in /tmp for this test. */
const char *make_directory(void);
void remove_directory(void);

TCase *batch_tests(void);
TCase *jobs_tests(void);
TCase *lanes_tests(void);
TCase *metrics_tests(void);
TCase *queue_tests(void);
TCase *reader_tests(void);
TCase *rules_tests(void);
TCase *sandbox_tests(void);
TCase *session_tests(void);
TCase *session_policy_tests(void);
TCase *session_position_tests(void);
TCase *snapshot_tests(void);
TCase *spool_tests(void);
TCase *uploader_tests(void);
TCase *wire_tests(void);

#endif
