/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_WALK_H
#define JFR_FUZZ_WALK_H

#include <stddef.h>
#include <stdint.h>

/* What a walk met. */
typedef struct walk_result {
    int opened; /* what jfr_open_mem returned */
    uint64_t chunks;
    uint64_t whole; /* of them, by jfr_file_loss */
    uint64_t samples;
    uint64_t frames;
    uint64_t losses;
} walk_result;

/*
 * Reads everything the library offers of a recording: every chunk, setting, sample, stack, class
 * and thread, each chunk twice. Aborts where the library breaks its word: an index out of range, a
 * string that is no UTF-8, a second pass that differs, a loss that lies before its chunk.
 *   flags   of jfr_options.flags
 */
walk_result walk_recording(const uint8_t *data, size_t len, uint32_t flags);

#endif
