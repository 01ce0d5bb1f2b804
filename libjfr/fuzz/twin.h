#ifndef JFR_FUZZ_TWIN_H
#define JFR_FUZZ_TWIN_H

#include <jfr/jfr.h>

/*
 * Holds the fast ways to what the plain ones read, and aborts where they differ: jfr_sums, in one
 * part and in three, with each loop that this CPU runs, to the sums of jfr_samples_next;
 * jfr_chunk_stack_refs and jfr_chunk_frame to jfr_chunk_stack. Leaves the chunk rewound.
 * Returns how many samples there were.
 */
uint64_t twin_check(jfr_chunk *chunk);

/* Opens a recording and checks each of its chunks. Returns the samples, 0 when it cannot be
 * opened. */
uint64_t twin_recording(const uint8_t *data, size_t len, uint32_t flags);

#endif
