/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises GraalVM native images, Java programs without a JVM, by their executable. */
#ifndef ATTACH_NATIVE_IMAGE_H
#define ATTACH_NATIVE_IMAGE_H

#include <stdbool.h>

/*
 * Returns whether the ELF file has the section ".svm_heap", in which GraalVM stores an image's
 * heap. Reads only the section headers, within bounds. False for any file that is not a
 * little-endian ELF64 file. Format: elf(5).
 */
bool attach__is_native_image(int fd);

/* Returns the same for /proc/PID/exe; false when its file system could hang (network, FUSE). */
bool attach__runs_native_image(int proc_fd);

#endif
