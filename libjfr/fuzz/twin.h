#ifndef JFR_FUZZ_TWIN_H
#define JFR_FUZZ_TWIN_H

#include <jfr/jfr.h>

/*
 * Opens a recording and holds, in each of its chunks, the fast ways to what the plain ones read;
 * aborts where they differ: jfr_sums, in one part and in three, with each loop that this CPU runs,
 * to the sums of jfr_samples_next; jfr_chunk_stack_refs and jfr_chunk_frame to jfr_chunk_stack.
 * Returns how many samples there were, 0 when it cannot be opened.
 */
uint64_t twin_recording(const uint8_t *data, size_t len, uint32_t flags);

#endif
