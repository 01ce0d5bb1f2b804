/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_FUZZ_FUZZ_H
#define JFR_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry point; replay.c calls it over files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
