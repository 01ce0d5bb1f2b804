/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: libFuzzer's entry point. run_corpus.c calls it with the files of a committed
 * corpus. */
#ifndef ATTACH_FUZZ_H
#define ATTACH_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
