/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each profile-for was first seen, by the object's uid and the value, so that a restart of the
 * collector does not start the time again. It is text in one file, which an adapter reads and
 * writes. One thread at a time.
 */
#ifndef COLLECTOR_CORE_PODS_FIRST_SEEN_H
#define COLLECTOR_CORE_PODS_FIRST_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIRST_SEEN_MAX = 4096, FIRST_SEEN_FILE_MAX = 1024 * 1024 };

typedef struct first_seen first_seen;

/* Returns NULL without memory. */
first_seen *first_seen_new(void);
void first_seen_free(first_seen *memory);

/*
 * Reads the text of first_seen_write. Returns 0, or -1 with a sentence in message; the lines before
 * the damaged one are kept.
 */
int first_seen_read(first_seen *memory, const char *text, size_t length, char *message,
                    size_t size);
/* Writes the memory as text: *out is malloc'd, with a NUL after its *length bytes. Returns 0, or -1
 * (no memory). */
int first_seen_write(first_seen *memory, char **out, size_t *length);
/* Whether there are changes since the last first_seen_write. */
bool first_seen_has_news(const first_seen *memory);

/*
 * Returns when the value was first seen on the object, Unix ms; that is now if it is new. 0 =
 * longer ago than any duration: the value is new and `is_old` says that it may be older than the
 * memory, or the memory is full.
 */
uint64_t first_seen_of(first_seen *memory, const char *uid, const char *value, uint64_t now_ms,
                       bool is_old);

/* Forgets the objects for which `is_there` returns false. */
void first_seen_prune(first_seen *memory, bool (*is_there)(const void *context, const char *uid),
                      const void *context);

#endif
