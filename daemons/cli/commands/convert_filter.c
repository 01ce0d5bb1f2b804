/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/convert_filter.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options/option_values.h"

/* The C library's compiler goes one call deeper for each parenthesis: more could end its stack. */
enum { REGEX_LIMIT = 4096 };

static int take_pattern(convert_filter *filter, const char *regex)
{
    char why[128];
    if (strlen(regex) > REGEX_LIMIT) {
        complain("--thread-pattern takes a regular expression of up to %d bytes, not of %zu",
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
    complain("--thread-pattern takes an extended regular expression, not '%s': %s", regex, why);
    return EXIT_USAGE;
}

static const char *const states[] = {
    [JFR_STATE_UNKNOWN] = "unknown",
    [JFR_STATE_RUNNABLE] = "runnable",
    [JFR_STATE_SLEEPING] = "sleeping",
    [JFR_STATE_NATIVE] = "native",
};

static int take_states(convert_filter *filter, char *list)
{
    char *rest;
    if (list[strspn(list, ",")] == '\0') {
        complain("--state takes one thread state or more, as in runnable,native");
        return EXIT_USAGE;
    }
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        size_t state;
        int rc =
            option_choice(&state, "thread state", name, states, sizeof(states) / sizeof(states[0]));
        if (rc >= 0)
            return rc;
        filter->states |= UINT32_C(1) << state;
    }
    return -1;
}

static int take_bound(convert_filter *filter, time_point *bound, const char *option)
{
    int rc = time_option_take(bound, option, optarg);
    if (rc >= 0)
        return rc;
    return time_option_in_order(&filter->from, &filter->to) ? -1 : EXIT_USAGE;
}

int filter_option(convert_filter *filter, int option)
{
    switch (option) {
    case FILTER_OPT_THREAD:
        filter->thread = optarg;
        return -1;
    case FILTER_OPT_THREAD_PATTERN:
        return take_pattern(filter, optarg);
    case FILTER_OPT_FROM:
        return take_bound(filter, &filter->from, "--from");
    case FILTER_OPT_TO:
        return take_bound(filter, &filter->to, "--to");
    default:
        return take_states(filter, optarg);
    }
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
    begin(filter, 0, 0); /* what is not relative holds for all inputs */
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
