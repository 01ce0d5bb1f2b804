/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_TWIN_H
#define JFR_FUZZ_TWIN_H

#include <jfr/jfr.h>

/* The combinations of the flags of jfr_sums_options and the loops. */
#define TWIN_WAYS (4 * 2)
#define TWIN_ALL  UINT32_MAX

/*
 * Opens a recording and compares, in each of its chunks, the fast functions with the plain ones:
 * sums, in one part and in three, with each loop that this CPU can run, with jfr_samples_next;
 * jfr_chunk_stack_refs and jfr_chunk_frame with jfr_chunk_stack; and jfr_stacks with these. Aborts
 * where they differ. Reads parts in one of TWIN_WAYS ways, counted from 0, or with TWIN_ALL in all
 * of them. Returns the number of samples, 0 when the recording cannot be opened.
 */
uint64_t twin_recording(const uint8_t *data, size_t len, uint32_t flags, uint32_t way);

#endif
