/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time on a command line. */
#ifndef HOTSTACK_CLI_TIME_OPTION_H
#define HOTSTACK_CLI_TIME_OPTION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum time_base {
    TIME_NOT_GIVEN,
    TIME_INSTANT,    /* ns since 1970 UTC */
    TIME_FROM_START, /* ns after the recording's start */
    TIME_FROM_END,   /* ns before its end */
} time_base;

typedef struct time_point {
    time_base base;
    int64_t ns;
} time_point;

/*
 * Takes the value of --from or --to into a time_point, as option_row.take. The value is
 * - an instant after 1970, as Unix seconds ("1769846400.5"),
 * - a day, which means its beginning ("2026-01-31"),
 * - a day and a time, separated by "T" or a blank ("2026-01-31T09:15:00.5+02:00"; without a zone it
 *   is UTC),
 * - "+2s", after the recording's start, or "-1.5m", before its end.
 * A day that does not exist is refused. Returns -1 to go on, or an exit code after a complaint.
 */
struct option_row;
int time_option_take(void *field, const struct option_row *row, const char *text);

/* Whether `from` may be before `to`; complains when it is not. Points with different bases can only
 * be compared once the recording is known. */
bool time_option_in_order(const time_point *from, const time_point *to);

static inline bool time_is_relative(const time_point *point)
{
    return point->base == TIME_FROM_START || point->base == TIME_FROM_END;
}

/* Returns the instant of a point in a recording from start_ns to end_ns; `otherwise` when the point
 * was not given. An instant out of the range of 64 bits becomes the end of that range. */
int64_t time_option_instant(const time_point *point, int64_t start_ns, int64_t end_ns,
                            int64_t otherwise);

#endif
