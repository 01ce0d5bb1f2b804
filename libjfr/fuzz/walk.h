/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_WALK_H
#define JFR_FUZZ_WALK_H

#include <stddef.h>
#include <stdint.h>

/* The counts of a walk. */
typedef struct walk_result {
    int opened; /* result of jfr_open_mem */
    uint64_t chunks;
    uint64_t whole; /* of them, by jfr_file_loss */
    uint64_t samples;
    uint64_t frames;
    uint64_t losses;
} walk_result;

/*
 * Reads everything in a recording: every chunk, setting, sample, stack, class and thread, each
 * chunk twice. Aborts where the library breaks a promise of its headers: an index out of range, a
 * string that is no UTF-8, a second pass that differs, a loss that lies before its chunk.
 *   flags   of jfr_options.flags
 */
walk_result walk_recording(const uint8_t *data, size_t len, uint32_t flags);

#endif
