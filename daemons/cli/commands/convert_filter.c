/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/convert_filter.h"

#include <string.h>

#include "cli/options/option.h"

/* The C library's compiler of regular expressions recurses for each parenthesis, so that a longer
 * expression could overflow its stack. */
enum { REGEX_LIMIT = 4096 };

int filter_take_pattern(void *field, const struct option_row *row, const char *regex)
{
    convert_filter *filter = field;
    char why[128];
    if (strlen(regex) > REGEX_LIMIT) {
        complain("--%s takes a regular expression of up to %d bytes, not of %zu", row->name,
                 REGEX_LIMIT, strlen(regex));
        return EXIT_USAGE;
    }
    if (filter->has_pattern)
        regfree(&filter->pattern);
    int rc = regcomp(&filter->pattern, regex, REG_EXTENDED | REG_NOSUB);
    filter->has_pattern = rc == 0;
    if (rc == 0)
        return -1;
    (void)regerror(rc, &filter->pattern, why, sizeof(why));
    complain("--%s takes an extended regular expression, not '%s': %s", row->name, regex, why);
    return EXIT_USAGE;
}

static bool is_thread_in(void *ctx, const sagg *agg, uint32_t index)
{
    const convert_filter *filter = ctx;
    sagg_thread thread;
    char name[512] = "";
    sagg_str whole = {0};
    if (sagg_thread_at(agg, index, &thread))
        whole = thread.name;
    if (filter->thread != NULL &&
        (whole.size != strlen(filter->thread) ||
         (whole.size > 0 && memcmp(whole.data, filter->thread, whole.size) != 0)))
        return false;
    if (!filter->has_pattern)
        return true;
    size_t size = whole.size < sizeof(name) - 1 ? whole.size : sizeof(name) - 1;
    if (size > 0)
        memcpy(name, whole.data, size);
    name[size] = '\0';
    return regexec(&filter->pattern, name, 0, NULL, 0) == 0;
}

static bool looks_at_threads(const convert_filter *filter)
{
    return filter->thread != NULL || filter->has_pattern;
}

static bool keep(void *ctx, const sagg *agg, const recording_moment *moment)
{
    convert_filter *filter = ctx;
    if (moment->time_ns < filter->from_ns || moment->time_ns >= filter->to_ns)
        return false;
    if (filter->states != 0 && (filter->states >> moment->state & 1) == 0)
        return false;
    return !looks_at_threads(filter) ||
           thread_memo_ask(&filter->threads, is_thread_in, filter, agg, moment->thread);
}

static void begin(void *ctx, int64_t start_ns, int64_t end_ns)
{
    convert_filter *filter = ctx;
    filter->from_ns = time_option_instant(&filter->from, start_ns, end_ns, INT64_MIN);
    filter->to_ns = time_option_instant(&filter->to, start_ns, end_ns, INT64_MAX);
}

bool filter_looks_at_times(const convert_filter *filter)
{
    return filter->from.base != TIME_NOT_GIVEN || filter->to.base != TIME_NOT_GIVEN ||
           filter->states != 0;
}

bool filter_is_set(const convert_filter *filter)
{
    return looks_at_threads(filter) || filter_looks_at_times(filter);
}

recording_tap filter_tap(convert_filter *filter)
{
    bool is_relative = time_is_relative(&filter->from) || time_is_relative(&filter->to);
    begin(filter, 0, 0); /* absolute times are the same for all inputs */
    return (recording_tap){.begin = is_relative ? begin : NULL,
                           .keep = filter_is_set(filter) ? keep : NULL,
                           .ctx = filter};
}

void filter_free(convert_filter *filter)
{
    if (filter->has_pattern)
        regfree(&filter->pattern);
    thread_memo_free(&filter->threads);
    *filter = (convert_filter){0};
}
