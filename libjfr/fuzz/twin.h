/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_TWIN_H
#define JFR_FUZZ_TWIN_H

#include <jfr/jfr.h>

/* What is added up, by the flags of jfr_sums_options, times the loops. */
#define TWIN_WAYS (4 * 2)
#define TWIN_ALL  UINT32_MAX

/*
 * Opens a recording and holds, in each of its chunks, the fast ways to what the plain ones read;
 * aborts where they differ: sums, in one part and in three, with each loop that this CPU runs, to
 * those of jfr_samples_next; jfr_chunk_stack_refs and jfr_chunk_frame to jfr_chunk_stack; and
 * jfr_stacks to these.
 * Parts are read in one of TWIN_WAYS ways, counted from 0, or with TWIN_ALL in all of them.
 * Returns how many samples there were, 0 when it cannot be opened.
 */
uint64_t twin_recording(const uint8_t *data, size_t len, uint32_t flags, uint32_t way);

#endif
