/* SPDX-License-Identifier: Apache-2.0 */
/* GraalVM native images: Java programs without a JVM, told by their executable. */
#ifndef ATTACH_NATIVE_IMAGE_H
#define ATTACH_NATIVE_IMAGE_H

#include <stdbool.h>

/*
 * Whether the ELF file has the section ".svm_heap", into which GraalVM puts an image's heap. Reads
 * the section headers only, within bounds; false for anything that is no little-endian ELF64 file.
 * Format: elf(5).
 */
bool attach__is_native_image(int fd);

/* The same for /proc/PID/exe, unless its file system could hang us (network, FUSE). */
bool attach__runs_native_image(int proc_fd);

#endif
