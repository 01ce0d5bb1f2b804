/* SPDX-License-Identifier: Apache-2.0 */
/* base/rfc3339.h: reads points in time in the form of RFC 3339. */
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include <stdint.h>

/*
 * Reads "2026-11-26T23:10:00Z", with an optional fraction of a second or an offset, as Unix
 * milliseconds. Returns 0, or -1 for other texts and times before 1970.
 */
int rfc3339_parse(uint64_t *unix_ms, const char *text);

#endif
