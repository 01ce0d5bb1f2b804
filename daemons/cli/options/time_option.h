/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time on a command line. */
#ifndef HOTSTACK_CLI_TIME_OPTION_H
#define HOTSTACK_CLI_TIME_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* How an error names them. */
#define TIME_OPTION_FORMS "Unix seconds or a time such as 2026-01-31T09:15:00Z"

/*
 * Reads a time after 1970 as UTC nanoseconds: Unix seconds ("1769846400.5"), a day ("2026-01-31",
 * its beginning), or a day with a time behind "T" or a blank ("2026-01-31T09:15:00.5+02:00"; no
 * zone is UTC). Returns whether it is that; a day that no calendar has is not.
 */
bool time_option_read(int64_t *ns, const char *text);

/* ".5", or nothing, as nanoseconds, to the last one; leaves `*text` behind it. */
int64_t time_option_fraction(const char **text);

/* Whether some time lies between the two, and a complaint when none does. */
bool time_option_in_order(int64_t from_ns, int64_t to_ns);

#endif
