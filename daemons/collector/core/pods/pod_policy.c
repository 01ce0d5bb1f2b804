/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_policy.h"

#include <base/rfc3339.h>
#include <catalogue/reason.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t SECOND_MS = 1000, DAY_MS = 86400000;
static const uint64_t TEMPORARY_MAX_MS = UINT64_C(7) * 86400000;

enum level { LEVEL_CONTAINER, LEVEL_POD, LEVEL_NAMESPACE, LEVEL_END };

typedef struct decider {
    const pod_policy_input *in;
    policy_decision *out;
    unsigned errors;
    bool has_ended; /* a temporary setting has ended */
} decider;

static const char *const known_keys =
    "profile, profile-until, profile-for, startup-delay, threads, events, contention-monitoring";

/* ---- settings and their names -------------------------------------------------------------- */

static bool is_known(const char *key)
{
    static const char *const keys[] = {
        "profile", "profile-until", "profile-for",          "startup-delay",
        "threads", "events",        "contention-monitoring"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return false;
}

/* Writes the name of a setting: "annotation app.hotstack.dev/profile of pod shop/web-1". */
static void name_setting(const decider *self, enum level at, const pod_setting *one, char *out,
                         size_t size)
{
    const pod *of = self->in->pod;
    const char *dot = one->container[0] != '\0' ? "." : "";
    const char *what = one->is_label ? "label" : "annotation";
    if (at == LEVEL_NAMESPACE)
        (void)snprintf(out, size, "%s %s%shotstack.dev/%s of namespace %s", what, one->container,
                       dot, one->key, of->namespace_name);
    else
        (void)snprintf(out, size, "%s %s%shotstack.dev/%s of pod %s/%.120s", what, one->container,
                       dot, one->key, of->namespace_name, of->name);
}

/* Keeps the text of the first error, and says how many follow. */
static void add_error(decider *self, const char *text)
{
    if (self->errors++ == 0)
        (void)snprintf(self->out->error, sizeof(self->out->error), "%.480s", text);
}

static void reject(decider *self, enum level at, const pod_setting *one, const char *why)
{
    char name[sizeof(self->out->source)];
    char text[1024];
    name_setting(self, at, one, name, sizeof(name));
    (void)snprintf(text, sizeof(text), "%s: \"%.40s\" %s", name, one->value, why);
    add_error(self, text);
}

static const pod_setting *settings_of(const decider *self, enum level at, size_t *count)
{
    const pod_namespace *space = self->in->space;
    if (at == LEVEL_NAMESPACE) {
        *count = space != NULL ? space->setting_count : 0;
        return space != NULL ? space->settings : NULL;
    }
    *count = self->in->pod->setting_count;
    return self->in->pod->settings;
}

static bool is_at(const decider *self, enum level at, const pod_setting *one)
{
    if (at == LEVEL_CONTAINER)
        return strcmp(one->container, self->in->container->name) == 0;
    return one->container[0] == '\0';
}

/* Returns the setting with this key at this level; `label` asks for a label instead of an
 * annotation. */
static const pod_setting *find_setting(const decider *self, enum level at, const char *key,
                                       bool label)
{
    size_t count = 0;
    const pod_setting *settings = settings_of(self, at, &count);
    for (size_t i = 0; i < count; i++) {
        const pod_setting *one = &settings[i];
        if (one->is_label == label && !one->too_long && is_at(self, at, one) &&
            strcmp(one->key, key) == 0)
            return one;
    }
    return NULL;
}

static bool names_a_container(const pod *of, const char *name)
{
    for (size_t i = 0; i < of->container_count; i++) {
        if (strcmp(of->containers[i].name, name) == 0)
            return true;
    }
    return false;
}

static void check_setting(decider *self, enum level at, const pod_setting *one)
{
    char why[256];
    if (one->container[0] != '\0' && at == LEVEL_NAMESPACE) {
        reject(self, at, one, "names a container: allowed on pods only");
    } else if (one->container[0] != '\0' && !names_a_container(self->in->pod, one->container)) {
        (void)snprintf(why, sizeof(why), "is for a container \"%s\" that the pod does not have",
                       one->container);
        reject(self, at, one, why);
    } else if (one->container[0] != '\0' && !is_at(self, LEVEL_CONTAINER, one)) {
        return; /* it is about another container */
    } else if (!is_known(one->key)) {
        (void)snprintf(why, sizeof(why), "has no meaning: the keys are %s", known_keys);
        reject(self, at, one, why);
    } else if (one->too_long) {
        (void)snprintf(why, sizeof(why), "... is longer than %d bytes", POD_SETTING_VALUE_MAX);
        reject(self, at, one, why);
    }
}

/* Reports names that nothing reads: a misspelt name must not look as if it were in force. */
static void check_names(decider *self, enum level at)
{
    size_t count = 0;
    const pod_setting *settings = settings_of(self, at, &count);
    for (size_t i = 0; i < count; i++)
        check_setting(self, at, &settings[i]);
    size_t dropped = at == LEVEL_NAMESPACE
                         ? (self->in->space != NULL ? self->in->space->settings_dropped : 0)
                         : self->in->pod->settings_dropped;
    if (dropped > 0) {
        char text[200];
        (void)snprintf(
            text, sizeof(text), "%s has %zu hotstack.dev settings more than the %d that are read",
            at == LEVEL_NAMESPACE ? "the namespace" : "the pod", dropped, POD_SETTINGS_MAX);
        add_error(self, text);
    }
}

/* ---- values -------------------------------------------------------------------------------- */

/* Reads "250ms", "10s", "5m", "1h" or "7d" between min and max; leaves *ms unchanged otherwise. */
static bool parse_duration(uint64_t *ms, const char *text, uint64_t min, uint64_t max)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        uint64_t product = 0;
        if (strcmp(units[i].name, end) != 0)
            continue;
        if (__builtin_mul_overflow((uint64_t)number, units[i].factor, &product) || product < min ||
            product > max)
            return false;
        *ms = product;
        return true;
    }
    return false;
}

typedef bool value_reader(decider *self, const pod_setting *one, char *why, size_t size);

static bool read_startup_delay(decider *self, const pod_setting *one, char *why, size_t size)
{
    (void)snprintf(why, size, "is not a time from 0s to 1d, such as 60s");
    return parse_duration(&self->out->startup_delay_ms, one->value, 0, DAY_MS);
}

static bool read_threads(decider *self, const pod_setting *one, char *why, size_t size)
{
    (void)snprintf(why, size, "is neither \"off\" nor a time from 1s to 1h, such as 30s");
    if (strcmp(one->value, "off") == 0) {
        self->out->threads_interval_ms = 0;
        return true;
    }
    return parse_duration(&self->out->threads_interval_ms, one->value, SECOND_MS, 3600 * SECOND_MS);
}

static bool read_events(decider *self, const pod_setting *one, char *why, size_t size)
{
    event_intervals events;
    char message[160];
    if (events_parse(&events, one->value, message, sizeof(message)) == 0) {
        self->out->events = events;
        return true;
    }
    (void)snprintf(why, size, "cannot be used: %s", message);
    return false;
}

static bool read_contention(decider *self, const pod_setting *one, char *why, size_t size)
{
    bool on = strcmp(one->value, "true") == 0;
    (void)snprintf(why, size, "is neither \"true\" nor \"false\"");
    if (!on && strcmp(one->value, "false") != 0)
        return false;
    if (on && self->out->mode != POLICY_TEMPORARY) {
        /* Contention monitoring makes every contended lock slower, so that it must not stay on
         * unnoticed. */
        (void)snprintf(why, size,
                       "works in temporary profiling only: set profile-until or profile-for");
        return self->out->mode == POLICY_OFF || self->has_ended;
    }
    self->out->contention_monitoring = on;
    return true;
}

/* Takes the nearest valid value; invalid values that are nearer are reported. */
static void read_key(decider *self, const char *key, value_reader *read_value)
{
    for (enum level at = LEVEL_CONTAINER; at < LEVEL_END; at++) {
        for (int label = 0; label < 2; label++) {
            const pod_setting *one = find_setting(self, at, key, label == 1);
            char why[256];
            if (one == NULL)
                continue;
            if (read_value(self, one, why, sizeof(why)))
                return;
            reject(self, at, one, why);
        }
    }
}

/* ---- mode ---------------------------------------------------------------------------------- */

static bool read_until(decider *self, enum level at, const pod_setting *one, uint64_t *end_ms)
{
    uint64_t now = self->in->now_ms;
    if (rfc3339_parse(end_ms, one->value) != 0)
        reject(self, at, one, "is not a time such as 2026-11-26T18:30:00Z");
    else if (*end_ms > now + TEMPORARY_MAX_MS)
        reject(self, at, one,
               "is more than 7 days ahead: for longer set profile to \"continuous\"");
    else
        return true;
    return false;
}

static bool read_for(decider *self, enum level at, const pod_setting *one, uint64_t *end_ms)
{
    const pod_policy_input *in = self->in;
    uint64_t length = 0;
    if (!parse_duration(&length, one->value, SECOND_MS, TEMPORARY_MAX_MS)) {
        reject(self, at, one, "is not a time from 1s to 7d, such as 10m");
        return false;
    }
    const char *uid = at == LEVEL_NAMESPACE ? in->space->uid : in->pod->uid;
    *end_ms = first_seen_of(in->memory, uid, one->value, in->now_ms, false) + length;
    return true;
}

/* Takes the latest end in the future of the level's temporary settings, unless a nearer level has
 * one. */
static void seek_temporary(decider *self, enum level at)
{
    static const struct {
        const char *key;
        bool (*read)(decider *self, enum level at, const pod_setting *one, uint64_t *end_ms);
    } ends[] = {{"profile-until", read_until}, {"profile-for", read_for}};
    bool was_temporary = self->out->mode == POLICY_TEMPORARY; /* a nearer level has decided */
    for (size_t i = 0; i < 4; i++) {
        const pod_setting *one = find_setting(self, at, ends[i / 2].key, i % 2 == 1);
        uint64_t end_ms = 0;
        if (one == NULL || !ends[i / 2].read(self, at, one, &end_ms) || was_temporary)
            continue;
        self->has_ended = self->has_ended || end_ms <= self->in->now_ms;
        if (end_ms <= self->in->now_ms || end_ms <= self->out->until_ms)
            continue;
        self->out->mode = POLICY_TEMPORARY;
        self->out->until_ms = end_ms;
        name_setting(self, at, one, self->out->source, sizeof(self->out->source));
    }
}

/* Returns whether the level says off. A continuous profile counts if no nearer level has
 * decided. */
static bool read_profile(decider *self, enum level at)
{
    policy_decision *out = self->out;
    for (int label = 0; label < 2; label++) {
        const pod_setting *one = find_setting(self, at, "profile", label == 1);
        if (one == NULL)
            continue;
        if (strcmp(one->value, "off") == 0) {
            name_setting(self, at, one, out->source, sizeof(out->source));
            return true;
        }
        if (strcmp(one->value, "continuous") != 0) {
            reject(self, at, one,
                   "is neither \"continuous\" nor \"off\"; for a while there are profile-for "
                   "and profile-until");
        } else if (out->mode == POLICY_OFF) {
            out->mode = POLICY_CONTINUOUS;
            name_setting(self, at, one, out->source, sizeof(out->source));
        }
    }
    return false;
}

/* Reads all levels, even after a near one has decided, so that every error is reported. */
static void choose_mode(decider *self)
{
    policy_decision *out = self->out;
    char off[sizeof(out->source)] = "";
    for (enum level at = LEVEL_CONTAINER; at < LEVEL_END; at++)
        seek_temporary(self, at);
    for (enum level at = LEVEL_CONTAINER; at < LEVEL_END; at++) {
        char chosen[sizeof(out->source)];
        memcpy(chosen, out->source, sizeof(chosen));
        if (!read_profile(self, at))
            continue;
        if (off[0] == '\0')
            memcpy(off, out->source, sizeof(off));
        memcpy(out->source, chosen, sizeof(chosen));
    }
    if (off[0] != '\0') {
        out->mode = POLICY_OFF;
        memcpy(out->source, off, sizeof(off));
        out->reason = REASON_SWITCHED_OFF;
    } else if (out->mode == POLICY_OFF) {
        out->reason = self->has_ended    ? REASON_EXPIRED
                      : self->errors > 0 ? REASON_INVALID_SETTING
                                         : REASON_DISABLED;
    }
    if (out->mode != POLICY_TEMPORARY)
        out->until_ms = 0;
}

void pod_policy_decide(const pod_policy_input *input, policy_decision *out)
{
    const pod_policy_defaults *defaults = input->defaults;
    decider self = {.in = input, .out = out};
    *out = (policy_decision){.events = defaults->events,
                             .startup_delay_ms = defaults->startup_delay_ms};
    check_names(&self, LEVEL_POD);
    check_names(&self, LEVEL_NAMESPACE);
    choose_mode(&self);
    bool temporary = out->mode == POLICY_TEMPORARY;
    out->interval_ms =
        temporary ? defaults->temporary_interval_ms : defaults->continuous_interval_ms;
    out->threads_interval_ms =
        temporary ? defaults->temporary_threads_ms : defaults->continuous_threads_ms;
    read_key(&self, "startup-delay", read_startup_delay);
    read_key(&self, "threads", read_threads);
    read_key(&self, "events", read_events);
    read_key(&self, "contention-monitoring", read_contention);
    if (self.errors > 1) {
        size_t used = strlen(out->error);
        (void)snprintf(out->error + used, sizeof(out->error) - used, " (and %u more)",
                       self.errors - 1);
    }
}

void pod_policy_note(first_seen *memory, const char *uid, const pod_setting *settings, size_t count,
                     uint64_t now_ms, bool is_old)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t ignored = 0;
        if (strcmp(settings[i].key, "profile-for") == 0 && !settings[i].too_long &&
            parse_duration(&ignored, settings[i].value, SECOND_MS, TEMPORARY_MAX_MS))
            (void)first_seen_of(memory, uid, settings[i].value, now_ms, is_old);
    }
}
