/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_VERDICT_H
#define JFR_FUZZ_VERDICT_H

#include <stddef.h>
#include <stdint.h>

/* The result of reading a recording. */
typedef struct verdict {
    /* One line: "JFR_ERR_FORMAT at 56", or "1 whole, 0 partial, 1 lost; 3 samples; truncated at
     * 900", with one "; REASON at OFFSET" for each loss (the first four). */
    char text[400];
    /* A hash of everything read: chunks with offsets, samples, stacks, threads, classes, losses. */
    uint64_t digest;
} verdict;

/* Reads `data` by jfr_open_mem. `flags` of jfr_options.flags. */
void verdict_of_file(verdict *out, const uint8_t *data, size_t len, uint32_t flags);

#endif
