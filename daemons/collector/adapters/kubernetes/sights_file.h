/* SPDX-License-Identifier: Apache-2.0 */
/* The file that keeps the first sights of profile-for across restarts (core/pods/first_seen.h). */
#ifndef COLLECTOR_KUBERNETES_SIGHTS_FILE_H
#define COLLECTOR_KUBERNETES_SIGHTS_FILE_H

#include <stddef.h>

/*
 * Reads <directory>/first-seen into *out (malloc'd, with a NUL after it). Returns 0, 1 where there
 * is no such file, or -1 with a sentence in message.
 */
int sights_file_read(const char *directory, char **out, size_t *length, char *message, size_t size);

/* Replaces the whole file and syncs it to the disk. Returns 0, or -1 with a sentence in message. */
int sights_file_write(const char *directory, const char *text, size_t length, char *message,
                      size_t size);

#endif
