/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/event.h>

#include <base/near_miss.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scale {
    const char *suffix;
    uint64_t factor;
} scale;

static const scale times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
static const scale sizes[] = {{"k", 1024}, {"m", 1048576}, {"g", 1073741824}, {NULL, 0}};

typedef struct event_kind {
    const char *name;
    const scale *scales;
    uint64_t floor;
    const char *allowed;
} event_kind;

static const event_kind kinds[EVENTS] = {
    [EVENT_CPU] = {"cpu", times, 1000000, "a time of at least 1ms with its unit, such as 10ms"},
    [EVENT_ALLOC] = {"alloc", sizes, 1024, "a size of at least 1k with its unit, such as 512k"},
    [EVENT_LOCK] = {"lock", times, 1000, "a time of at least 1us with its unit, such as 10ms"},
    [EVENT_WALL] = {"wall", times, 5000000, "a time of at least 5ms with its unit, such as 50ms"},
    [EVENT_LIVE] = {"live", sizes, 1024, "a size of at least 1k with its unit, such as 512k"},
    [EVENT_NATIVEMEM] = {"nativemem", sizes, 1024,
                         "a size of at least 1k with its unit, such as 512k"},
};

const char *event_name(event_id event)
{
    return kinds[event].name;
}

static bool parse_interval(uint64_t *out, const char *text, size_t length, const event_kind *kind)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    size_t digits = (size_t)(end - text);

    if (text[0] < '0' || text[0] > '9' || errno != 0 || digits > length)
        return false;
    for (const scale *s = kind->scales; s->suffix != NULL; s++) {
        if (strlen(s->suffix) == length - digits && memcmp(end, s->suffix, length - digits) == 0)
            return !__builtin_mul_overflow((uint64_t)number, s->factor, out) && *out >= kind->floor;
    }
    return false;
}

static const event_kind *find_kind(const char *name, size_t length, size_t *index)
{
    for (*index = 0; *index < EVENTS; ++*index) {
        if (strlen(kinds[*index].name) == length && memcmp(kinds[*index].name, name, length) == 0)
            return &kinds[*index];
    }
    return NULL;
}

static int refuse_name(const char *item, size_t length, char *message, size_t size)
{
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    near_miss_begin(&near, item, length);
    int n = snprintf(message, size, "\"%.*s\" is not one of", (int)length, item);
    for (size_t i = 0; i < EVENTS && n >= 0 && (size_t)n < size; i++) {
        n += snprintf(message + n, size - (size_t)n, "%s %s", i == 0 ? "" : ",", kinds[i].name);
        near_miss_try(&near, kinds[i].name, strlen(kinds[i].name));
    }
    if (n >= 0 && (size_t)n < size)
        (void)snprintf(message + n, size - (size_t)n, "%s", near_miss_hint(&near, hint));
    return -1;
}

/* Sets `stated` to the interval if the item states one. */
static int parse_item(event_intervals *out, event_intervals *stated, const char *item,
                      size_t length, const event_intervals *defaults, char *message, size_t size)
{
    size_t index, name = strcspn(item, "=,");
    name = name < length ? name : length;
    const event_kind *kind = find_kind(item, name, &index);

    if (kind == NULL)
        return refuse_name(item, name, message, size);
    out->of[index] = defaults->of[index];
    if (name == length)
        return 0;
    if (parse_interval(&out->of[index], item + name + 1, length - name - 1, kind)) {
        stated->of[index] = out->of[index];
        return 0;
    }
    (void)snprintf(message, size, "\"%.*s\" takes %s", (int)length, item, kind->allowed);
    return -1;
}

/* Gives allocations and live objects the same interval, if both are recorded. */
static int settle_live(event_intervals *out, const event_intervals *stated, char *message,
                       size_t size)
{
    uint64_t alloc = stated->of[EVENT_ALLOC], live = stated->of[EVENT_LIVE];
    if (out->of[EVENT_ALLOC] == 0 || out->of[EVENT_LIVE] == 0)
        return 0;
    if (alloc != 0 && live != 0 && alloc != live) {
        (void)snprintf(message, size,
                       "alloc and live sample the same allocations: give one interval");
        return -1;
    }
    if (alloc == 0 && live == 0)
        alloc = out->of[EVENT_ALLOC];
    out->of[EVENT_ALLOC] = out->of[EVENT_LIVE] = alloc != 0 ? alloc : live;
    return 0;
}

int event_intervals_parse(event_intervals *out, const char *list, const event_intervals *defaults,
                          char *message, size_t size)
{
    event_intervals stated = {{0}};
    *out = (event_intervals){{0}};
    for (;;) {
        size_t length = strcspn(list, ",");
        if (parse_item(out, &stated, list, length, defaults, message, size) != 0)
            return -1;
        if (list[length] == '\0')
            return settle_live(out, &stated, message, size);
        list += length + 1;
    }
}

const char *event_interval_objection(event_id event, uint64_t interval)
{
    return interval == 0 || interval >= kinds[event].floor ? NULL : kinds[event].allowed;
}

bool event_intervals_any(const event_intervals *events)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (events->of[i] != 0)
            return true;
    return false;
}

enum profile_source event_source(event_id event)
{
    static const enum profile_source sources[EVENTS] = {
        [EVENT_CPU] = PROFILE_SOURCE_CPU,   [EVENT_ALLOC] = PROFILE_SOURCE_ALLOC,
        [EVENT_LOCK] = PROFILE_SOURCE_LOCK, [EVENT_WALL] = PROFILE_SOURCE_WALL,
        [EVENT_LIVE] = PROFILE_SOURCE_LIVE, [EVENT_NATIVEMEM] = PROFILE_SOURCE_NATIVEMEM,
    };

    return sources[event];
}

bool event_intervals_yield(const event_intervals *events, enum profile_source source)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (events->of[i] != 0 && event_source((event_id)i) == source)
            return true;
    return false;
}
