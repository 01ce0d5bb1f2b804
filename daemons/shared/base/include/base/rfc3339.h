/* SPDX-License-Identifier: Apache-2.0 */
/* base/rfc3339.h: points in time as RFC 3339 writes them. */
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include <stdint.h>

/*
 * Reads "2026-11-26T23:10:00Z", with a fraction of a second and an offset where they are there, to
 * Unix milliseconds. Returns 0, or -1 where the text is something else or lies before 1970.
 */
int rfc3339_parse(uint64_t *unix_ms, const char *text);

#endif
