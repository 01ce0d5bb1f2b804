/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/convert_filter.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options/time_option.h"

/* The C library's compiler goes one call deeper for each parenthesis: more could end its stack. */
enum { REGEX_LIMIT = 4096 };

static int take_thread(convert_filter *filter, const char *regex)
{
    char why[128];
    if (strlen(regex) > REGEX_LIMIT) {
        complain("--thread takes a regular expression of up to %d bytes, not of %zu", REGEX_LIMIT,
                 strlen(regex));
        return EXIT_USAGE;
    }
    if (filter->has_thread)
        regfree(&filter->thread);
    int rc = regcomp(&filter->thread, regex, REG_EXTENDED | REG_NOSUB);
    filter->has_thread = rc == 0;
    if (rc == 0)
        return -1;
    (void)regerror(rc, &filter->thread, why, sizeof(why));
    complain("--thread takes an extended regular expression, not '%s': %s", regex, why);
    return EXIT_USAGE;
}

static int take_time(int64_t *ns, const char *option, const char *text)
{
    if (time_option_read(ns, text))
        return -1;
    complain("%s takes " TIME_OPTION_FORMS ", not '%s'", option, text);
    return EXIT_USAGE;
}

static const struct {
    const char *name;
    jfr_thread_state state;
} states[] = {
    {"unknown", JFR_STATE_UNKNOWN},
    {"runnable", JFR_STATE_RUNNABLE},
    {"sleeping", JFR_STATE_SLEEPING},
    {"native", JFR_STATE_NATIVE},
};

static int take_states(convert_filter *filter, char *list)
{
    char *rest;
    if (list[strspn(list, ",")] == '\0') {
        complain("--state takes one thread state or more: use runnable, sleeping, native or "
                 "unknown");
        return EXIT_USAGE;
    }
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        uint32_t found = 0;
        for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
            if (strcmp(name, states[i].name) == 0)
                found = UINT32_C(1) << states[i].state;
        if (found == 0) {
            complain("there is no thread state '%s': use runnable, sleeping, native or unknown",
                     name);
            return EXIT_USAGE;
        }
        filter->states |= found;
    }
    return -1;
}

static int take_bound(convert_filter *filter, int64_t *bound, const char *option)
{
    int rc = take_time(bound, option, optarg);
    if (rc >= 0 || filter->from_ns == 0 || filter->to_ns == 0)
        return rc;
    return time_option_in_order(filter->from_ns, filter->to_ns) ? -1 : EXIT_USAGE;
}

int filter_option(convert_filter *filter, int option)
{
    switch (option) {
    case FILTER_OPT_THREAD:
        return take_thread(filter, optarg);
    case FILTER_OPT_FROM:
        return take_bound(filter, &filter->from_ns, "--from");
    case FILTER_OPT_TO:
        return take_bound(filter, &filter->to_ns, "--to");
    default:
        return take_states(filter, optarg);
    }
}

static bool is_thread_in(void *ctx, const sagg *agg, uint32_t index)
{
    const convert_filter *filter = ctx;
    sagg_thread thread;
    char name[512] = "";
    if (sagg_thread_at(agg, index, &thread) && thread.name.size > 0) {
        size_t size = thread.name.size < sizeof(name) - 1 ? thread.name.size : sizeof(name) - 1;
        memcpy(name, thread.name.data, size);
        name[size] = '\0';
    }
    return regexec(&filter->thread, name, 0, NULL, 0) == 0;
}

static bool keep(void *ctx, const sagg *agg, const recording_moment *moment)
{
    convert_filter *filter = ctx;
    if (filter->from_ns != 0 && moment->time_ns < filter->from_ns)
        return false;
    if (filter->to_ns != 0 && moment->time_ns >= filter->to_ns)
        return false;
    if (filter->states != 0 && (filter->states >> moment->state & 1) == 0)
        return false;
    return !filter->has_thread ||
           thread_memo_ask(&filter->threads, is_thread_in, filter, agg, moment->thread);
}

bool filter_looks_at_times(const convert_filter *filter)
{
    return filter->from_ns != 0 || filter->to_ns != 0 || filter->states != 0;
}

bool filter_is_set(const convert_filter *filter)
{
    return filter->has_thread || filter_looks_at_times(filter);
}

recording_tap filter_tap(convert_filter *filter)
{
    return (recording_tap){.keep = filter_is_set(filter) ? keep : NULL, .ctx = filter};
}

void filter_free(convert_filter *filter)
{
    if (filter->has_thread)
        regfree(&filter->thread);
    thread_memo_free(&filter->threads);
    *filter = (convert_filter){0};
}
