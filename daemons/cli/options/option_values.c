/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <attach/attach.h>
#include <base/near_miss.h>
#include <catalogue/profile_type.h>

int take_flag(void *field, const option_row *row, const char *text)
{
    (void)row;
    (void)text;
    *(bool *)field = true;
    return -1;
}

int take_text(void *field, const option_row *row, const char *text)
{
    (void)row;
    *(const char **)field = text;
    return -1;
}

int take_number(void *field, const option_row *row, const char *text)
{
    char *end;
    uint32_t most = row->most != 0 ? row->most : UINT32_MAX;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && number >= row->least &&
        number <= most) {
        *(uint32_t *)field = (uint32_t)number;
        return -1;
    }
    if (row->most != 0)
        complain("--%s takes a whole number from %u to %u, not '%s'", row->name, row->least, most,
                 text);
    else
        complain("--%s takes a whole number from %u on, not '%s'", row->name, row->least, text);
    return EXIT_USAGE;
}

/* Returns milliseconds in the form in which people write them. */
static const char *time_text(char out[32], uint32_t ms)
{
    if (ms >= 60000 && ms % 60000 == 0)
        (void)snprintf(out, 32, "%um", ms / 60000);
    else if (ms % 1000 == 0)
        (void)snprintf(out, 32, "%us", ms / 1000);
    else
        (void)snprintf(out, 32, "%ums", ms);
    return out;
}

int take_time(void *field, const option_row *row, const char *text)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
    char *end, least[32], most[32];
    errno = 0;
    double number = strtod(text, &end);
    for (size_t i = 0; errno == 0 && end != text && i < sizeof(units) / sizeof(units[0]); i++) {
        double ms = number * units[i].ms;
        if (strcmp(end, units[i].name) != 0 || !(ms >= row->least) || ms > row->most)
            continue;
        *(uint32_t *)field = (uint32_t)ms;
        return -1;
    }
    complain("--%s takes a time from %s to %s, such as 500ms, 10s or 5m, not '%s'", row->name,
             time_text(least, row->least), time_text(most, row->most), text);
    return EXIT_USAGE;
}

/* Reads a number from 0 to 100; false where it is not one. */
static bool read_percent(double *out, const char *text, const char **end)
{
    char *rest;
    *out = strtod(text, &rest);
    *end = rest;
    return rest != text && *out >= 0 && *out <= 100;
}

int take_percent(void *field, const option_row *row, const char *text)
{
    const char *end;
    double percent;
    if (read_percent(&percent, text, &end) && (*end == '\0' || strcmp(end, "%") == 0)) {
        *(double *)field = percent;
        return -1;
    }
    complain("--%s takes a percentage from 0 to 100, such as 5 or 0.1, not '%s'", row->name, text);
    return EXIT_USAGE;
}

int take_width(void *field, const option_row *row, const char *text)
{
    double percent = 0;
    int rc = take_percent(&percent, row, text);
    *(uint32_t *)field = (uint32_t)(percent * 1e7 + 0.5);
    return rc;
}

/* Complains about a word that the option does not have. */
static void refuse_word(const option_row *row, const char *text, size_t length)
{
    near_miss near;
    option_word word;
    char hint[NEAR_MISS_LENGTH + 32];
    char list[256] = "";
    near_miss_begin(&near, text, length);
    for (size_t i = 0; row->words(i, &word); i++) {
        option_word next;
        size_t size = strlen(list);
        const char *comma = i == 0 ? "" : row->words(i + 1, &next) ? ", " : " or ";
        near_miss_try(&near, word.name, strlen(word.name));
        (void)snprintf(list + size, sizeof(list) - size, "%s%s", comma, word.name);
    }
    if (*near_miss_hint(&near, hint) != '\0')
        complain("there is no %s '%.*s'%s", row->noun, (int)length, text, hint);
    else
        complain("there is no %s '%.*s'; --%s takes %s", row->noun, (int)length, text, row->name,
                 list);
}

/* Gets the number of a word of the option; returns false after a complaint. */
static bool find_word(size_t *index, const option_row *row, const char *text, size_t length)
{
    option_word word;
    for (*index = 0; row->words(*index, &word); ++*index)
        if (strlen(word.name) == length && memcmp(word.name, text, length) == 0)
            return true;
    refuse_word(row, text, length);
    return false;
}

int take_word(void *field, const option_row *row, const char *text)
{
    size_t index;
    if (!find_word(&index, row, text, strlen(text)))
        return EXIT_USAGE;
    *(unsigned *)field = (unsigned)index + row->least;
    return -1;
}

int take_words(void *field, const option_row *row, const char *text)
{
    option_word first;
    size_t index;
    if (text[strspn(text, ",")] == '\0') {
        (void)row->words(0, &first);
        complain("--%s takes one %s or more, separated by commas, such as %s", row->name, row->noun,
                 first.name);
        return EXIT_USAGE;
    }
    for (text += strspn(text, ","); *text != '\0'; text += strspn(text, ",")) {
        size_t length = strcspn(text, ",");
        if (!find_word(&index, row, text, length))
            return EXIT_USAGE;
        *(uint32_t *)field |= UINT32_C(1) << (index + row->least);
        text += length;
    }
    return -1;
}

/* The intervals that `hotstack profile` uses where none is given. */
static const event_intervals usual = {{[EVENT_CPU] = 10000000,
                                       [EVENT_ALLOC] = 524288,
                                       [EVENT_LOCK] = 1000000,
                                       [EVENT_WALL] = 50000000,
                                       [EVENT_LIVE] = 524288,
                                       [EVENT_NATIVEMEM] = 524288}};

int take_events(void *field, const option_row *row, const char *text)
{
    char why[200] = "name one event or more";
    size_t index;
    for (const char *at = text; *at != '\0'; at += strspn(at, ",")) {
        if (!find_word(&index, row, at, strcspn(at, "=,")))
            return EXIT_USAGE;
        at += strcspn(at, ",");
    }
    if (text[0] != '\0' && event_intervals_parse(field, text, &usual, why, sizeof(why)) == 0)
        return -1;
    complain("--%s: %s", row->name, why);
    return EXIT_USAGE;
}

/* ---- the words */

static bool word_at(const option_word *words, size_t count, size_t index, option_word *out)
{
    if (index >= count)
        return false;
    *out = words[index];
    return true;
}

bool type_words(size_t index, option_word *out)
{
    const profile_type_info *type = profile_type_get((unsigned)index + 1);
    *out = type != NULL ? (option_word){type->name, type->title} : (option_word){0};
    return type != NULL;
}

bool state_words(size_t index, option_word *out)
{
    static const option_word words[] = {
        [JFR_STATE_UNKNOWN] = {"unknown", "the recorder did not say"},
        [JFR_STATE_RUNNABLE] = {"runnable", "on a CPU, or ready to run"},
        [JFR_STATE_SLEEPING] = {"sleeping", "waiting, blocked or asleep"},
        [JFR_STATE_NATIVE] = {"native", "in native code, running or not"},
    };
    return word_at(words, sizeof(words) / sizeof(words[0]), index, out);
}

bool event_words(size_t index, option_word *out)
{
    static const option_word words[EVENTS] = {
        [EVENT_CPU] = {"cpu", "CPU time, by default every 10ms, at least 1ms; where the JVM may "
                              "not use perf events, at least the kernel's tick (4ms on most)"},
        [EVENT_ALLOC] = {"alloc", "allocation, by default every 512k, at least 1k"},
        [EVENT_LOCK] = {"lock", "lock contention, by default every 1ms of waiting, at least 1us"},
        [EVENT_WALL] = {"wall", "wall time of all threads, by default every 50ms, at least 5ms; a "
                                "frame [running] or [waiting] above each stack says which it was"},
        [EVENT_LIVE] = {"live", "objects of sampled allocations that are still reachable at the "
                                "end (at most 1,024); its interval is that of alloc"},
        [EVENT_NATIVEMEM] = {"nativemem", "memory that native code allocates with malloc and "
                                          "similar functions, by default every 512k, at least 1k"},
    };
    return word_at(words, EVENTS, index, out);
}

bool engine_words(size_t index, option_word *out)
{
    static const option_word words[] = {
        [ATTACH_AP_RECORDER_AUTO] = {"auto",
                                     "async-profiler, or the JDK's recorder where async-profiler "
                                     "cannot be loaded; standard error then gives the reason"},
        [ATTACH_AP_RECORDER_ASYNC_PROFILER] = {"async-profiler",
                                               "async-profiler, or fail with the reason"},
        [ATTACH_AP_RECORDER_JFR] = {"jfr", "the JDK's own recorder: CPU time every 10ms at best, "
                                           "only of Java code; no wall, live, nativemem"},
    };
    return word_at(words, sizeof(words) / sizeof(words[0]), index, out);
}

bool sort_words(size_t index, option_word *out)
{
    static const option_word words[] = {
        [SORT_BY_SELF] = {"self", "the value of the method itself"},
        [SORT_BY_TOTAL] = {"total", "including everything that it called"},
    };
    return word_at(words, sizeof(words) / sizeof(words[0]), index, out);
}

bool diff_format_words(size_t index, option_word *out)
{
    static const option_word words[] = {
        [DIFF_TEXT - 1] = {"text", "tables and the verdict, for a terminal"},
        [DIFF_HTML - 1] = {"html", "a page: a flame graph coloured by change, and the methods"},
        [DIFF_JSON - 1] = {"json", "the methods with their shares in parts per billion, the "
                                   "methods that fail a rule, and the verdict"},
    };
    return word_at(words, sizeof(words) / sizeof(words[0]), index, out);
}
