/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector's suites share: sample profiles and batches, a temporary directory. */
#ifndef COLLECTOR_TESTS_H
#define COLLECTOR_TESTS_H

#include "../core/collector.h"
#include "../core/uploader.h"

#include <check.h>

/* Noon of a UTC day. */
#define NOON UINT64_C(1700049600000)

/* A profile of `parts` types with `rows` rows each, every row of another stack, value = 10 x i. */
void sample_profile(profile *out, uint32_t parts, uint32_t rows);

/* A JVM of that pid. */
local_jvm sample_jvm(uint32_t pid);

/* A batch with `windows` windows of that many rows each, all of one JVM, from NOON on. */
void sample_batch(batch *out, uint8_t id_byte, uint32_t windows, uint32_t rows);

/* A directory below /tmp for this test, and its end. */
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
