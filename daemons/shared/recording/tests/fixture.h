/* SPDX-License-Identifier: Apache-2.0 */
/* A recording under construction, and the reader's results; made anew for each test. */
#ifndef RECORDING_TESTS_FIXTURE_H
#define RECORDING_TESTS_FIXTURE_H

#include <check.h>
#include <recording/recording.h>

#include "support/writer.h"

extern writer w;
extern chunk_params params;
extern recording_options options;
extern recording *rec; /* NULL = to be made with the options; freed after the test */
extern recording_error err;
extern recording_info info; /* from the last read_all */

void fixture_setup(void);
void fixture_teardown(void);

/* Begins a chunk, of async-profiler or of the JDK, and ends it with the standard pools. */
void begin(bool async);
void end(void);

/* Writes a chunk of three CPU samples; without settings if `interval` is NULL. */
void put_cpu_chunk(const char *interval);

/* Reads the written bytes into the recording. */
const sagg *read_all(void);

#endif
