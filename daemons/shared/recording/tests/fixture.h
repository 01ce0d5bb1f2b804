/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is being written, and what reads it: made anew for each test. */
#ifndef RECORDING_TESTS_FIXTURE_H
#define RECORDING_TESTS_FIXTURE_H

#include <check.h>
#include <recording/recording.h>

#include "support/writer.h"

extern writer w;
extern chunk_params params;
extern recording_options options;
extern recording *rec; /* NULL = to be made by the options; freed behind the test */
extern recording_error err;
extern recording_info info; /* as of the last read_all */

void fixture_setup(void);
void fixture_teardown(void);

/* Begins a chunk, of async-profiler or of the JDK, and ends it with the standard pools. */
void begin(bool async);
void end(void);

/* A chunk of three CPU samples; without settings where `interval` is NULL. */
void put_cpu_chunk(const char *interval);

/* Reads what was written into the recording. */
const sagg *read_all(void);

#endif
