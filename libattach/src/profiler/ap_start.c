/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_jfr_impl.h"
#include "profiler/ap_recording_impl.h"
#include "profiler/ap_session_impl.h"
#include <attach/command.h>

#define DEFAULT_INTERVAL_NS 10000000u
#define DEFAULT_MEMLIMIT    ((uint64_t)64 << 20)
#define DEFAULT_RATE_LIMIT  10000u

static int64_t unix_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Fills the marker of a session with these options. */
static void describe(attach__marker *out, const attach_target *target,
                     const attach_ap_options *options)
{
    bool cpu = options->engine != ATTACH_AP_ENGINE_OFF;
    memset(out, 0, sizeof(*out));
    (void)snprintf(out->installation, sizeof(out->installation), "%s", options->installation_id);
    out->identity = target->identity;
    out->namespace_id = attach__namespace_id(target);
    out->wanted = options->engine;
    out->recorder = options->recorder;
    if (options->owner != NULL)
        attach__copy_text(out->owner, sizeof(out->owner),
                          attach__span_of(options->owner, strlen(options->owner)));
    if (cpu)
        out->cpu_interval_ns =
            options->cpu_interval_ns == 0 ? DEFAULT_INTERVAL_NS : options->cpu_interval_ns;
    out->alloc_bytes = options->alloc_bytes;
    out->lock_ns = options->lock_ns;
    out->wall_ns = options->wall_ns;
    out->nativemem_bytes = options->nativemem_bytes;
    out->live = options->live;
    out->memlimit_bytes = options->memlimit_bytes == 0 ? DEFAULT_MEMLIMIT : options->memlimit_bytes;
    out->rate_limit = options->rate_limit == 0 ? DEFAULT_RATE_LIMIT : options->rate_limit;
    out->started_ms = unix_ms();
    if (options->max_seconds > 0)
        out->until_ms = out->started_ms + (int64_t)options->max_seconds * 1000;
}

static bool same_settings(const attach__marker *a, const attach__marker *b)
{
    return a->wanted == b->wanted && a->recorder == b->recorder &&
           a->cpu_interval_ns == b->cpu_interval_ns && a->alloc_bytes == b->alloc_bytes &&
           a->lock_ns == b->lock_ns && a->memlimit_bytes == b->memlimit_bytes &&
           a->rate_limit == b->rate_limit && a->wall_ns == b->wall_ns &&
           a->nativemem_bytes == b->nativemem_bytes && a->live == b->live;
}

/* Returns whether the running session can be taken over: its marker has the wanted settings, and
 * its recording is readable from the end of the last call on. */
static bool can_adopt(const attach__session *s, const attach__marker *wanted)
{
    uint64_t end = 0;
    if (!s->has_marker || !same_settings(&s->marker, wanted) ||
        s->marker.engine == ATTACH_AP_ENGINE_AUTO)
        return false;
    if (attach__session_is_jfr(s))
        return true;
    int fd = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDWR, 0);
    if (fd < 0)
        return false;
    bool sound = attach__recording_finished(&end, fd, s->marker.handed, NULL) == ATTACH_OK;
    (void)close(fd);
    return sound;
}

/* Returns the event that selects an engine; "cpu" means perf events with async-profiler's own
 * fallback. */
static const char *event_of(attach_ap_engine engine)
{
    switch (engine) {
    case ATTACH_AP_ENGINE_PERF:
        return "cpu-clock";
    case ATTACH_AP_ENGINE_CTIMER:
        return "ctimer";
    case ATTACH_AP_ENGINE_ITIMER:
        return "itimer";
    case ATTACH_AP_ENGINE_AUTO:
    case ATTACH_AP_ENGINE_OFF:
    case ATTACH_AP_ENGINE_JFR:
        break;
    }
    return "cpu";
}

static void add_number(char *command, size_t cap, const char *name, uint64_t value)
{
    size_t n = strlen(command);
    if (value > 0)
        (void)snprintf(command + n, cap - n, ",%s=%" PRIu64, name, value);
}

/* Adds the rate limit, which applies to each kind of event separately. */
static void add_rate_limit(char *command, size_t cap, uint64_t limit)
{
    static const char *const kinds[] = {"cpu", "alloc", "lock", "wall", "nativemem"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(command);
        (void)snprintf(command + n, cap - n, "%s%s:%" PRIu64, i == 0 ? ",ratelimit=" : ";",
                       kinds[i], limit);
    }
}

static bool is_timer(attach_ap_engine engine)
{
    return engine == ATTACH_AP_ENGINE_CTIMER || engine == ATTACH_AP_ENGINE_ITIMER;
}

/* Returns the length of the kernel's clock tick, which is the resolution of its coarse clocks. The
 * kernel checks CPU-time timers once per tick, so a shorter interval yields no more samples. */
static uint64_t tick_ns(void)
{
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0)
        return 0;
    return (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
}

/* Returns the interval that the engine can reach. Each sample counts for the interval that the
 * recording states, so the recording has to state a true one. */
static uint64_t reached_interval(attach_ap_engine engine, uint64_t wanted)
{
    uint64_t tick = is_timer(engine) ? tick_ns() : 0;
    return wanted > tick ? wanted : tick;
}

static void add_word(char *command, size_t cap, bool wanted, const char *word)
{
    size_t n = strlen(command);
    if (wanted)
        (void)snprintf(command + n, cap - n, ",%s", word);
}

/* Returns the events that the marker requests, as enum attach_ap_event. */
static uint32_t wanted_events(const attach__marker *m)
{
    return (m->cpu_interval_ns > 0 ? ATTACH_AP_CPU : 0u) |
           (m->alloc_bytes > 0 ? ATTACH_AP_ALLOC : 0u) | (m->lock_ns > 0 ? ATTACH_AP_LOCK : 0u) |
           (m->wall_ns > 0 ? ATTACH_AP_WALL : 0u) | (m->live > 0 ? ATTACH_AP_LIVE : 0u) |
           (m->nativemem_bytes > 0 ? ATTACH_AP_NATIVEMEM : 0u);
}

static void add_events(char *command, size_t cap, const attach__marker *m, attach_ap_engine engine,
                       uint32_t events)
{
    size_t n = strlen(command);
    if ((events & ATTACH_AP_CPU) != 0) {
        (void)snprintf(command + n, cap - n, ",event=%s", event_of(engine));
        add_number(command, cap, "interval", reached_interval(engine, m->cpu_interval_ns));
    }
    if ((events & (ATTACH_AP_ALLOC | ATTACH_AP_LIVE)) != 0)
        add_number(command, cap, "alloc", m->alloc_bytes);
    add_word(command, cap, (events & ATTACH_AP_LIVE) != 0, "live");
    if ((events & ATTACH_AP_LOCK) != 0)
        add_number(command, cap, "lock", m->lock_ns);
    if ((events & ATTACH_AP_WALL) != 0)
        add_number(command, cap, "wall", m->wall_ns);
    if ((events & ATTACH_AP_NATIVEMEM) != 0)
        add_number(command, cap, "nativemem", m->nativemem_bytes);
    add_word(command, cap, (events & ATTACH_AP_NATIVEMEM) != 0, "nofree");
}

/* Starts a session with some of the events that the marker requests. */
static int start_with(attach__session *s, attach_ap_engine engine, uint32_t events,
                      attach_error *err)
{
    char command[ATTACH_ARG_V1_MAX] = "start,jfr,cstack=vm";
    (void)unlinkat(s->place.fd, ATTACH__FILE_RECORDING, 0);
    add_events(command, sizeof(command), &s->marker, engine, events);
    add_number(command, sizeof(command), "memlimit", s->marker.memlimit_bytes);
    add_rate_limit(command, sizeof(command), s->marker.rate_limit);
    add_number(command, sizeof(command), "timeout", s->options->max_seconds);
    size_t n = strlen(command);
    (void)snprintf(command + n, sizeof(command) - n, ",file=%s/" ATTACH__FILE_RECORDING,
                   s->place.path);
    int rc = attach__session_run(s, command, err);
    s->running = rc == ATTACH_OK;
    return rc;
}

static bool is_profiler_refusal(int rc, const attach_error *err)
{
    return rc == ATTACH_ERR_TARGET && err->reason == ATTACH_REASON_PROFILER_ERROR;
}

/* Starts with the engine AUTO: first async-profiler's own choice, and if it refuses that, each
 * timer. */
static int start_best(attach__session *s, uint32_t events, attach_error *err)
{
    static const attach_ap_engine order[] = {ATTACH_AP_ENGINE_AUTO, ATTACH_AP_ENGINE_CTIMER,
                                             ATTACH_AP_ENGINE_ITIMER};
    int rc = ATTACH_OK;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        rc = start_with(s, order[i], events, err);
        if (!is_profiler_refusal(rc, err))
            break;
    }
    return rc;
}

static int start_events(attach__session *s, uint32_t events, attach_error *err)
{
    bool chooses = s->marker.wanted == ATTACH_AP_ENGINE_AUTO && (events & ATTACH_AP_CPU) != 0;
    return chooses ? start_best(s, events, err) : start_with(s, s->marker.wanted, events, err);
}

/* `index` is the number of the event's bit. */
static void note_absent(attach__session *s, unsigned index)
{
    static const char *const names[] = {"cpu", "alloc", "lock", "wall", "live", "nativemem"};
    attach__marker *m = &s->marker;
    size_t n = strlen(m->absent_reason);
    m->absent |= UINT64_C(1) << index;
    (void)snprintf(m->absent_reason + n, sizeof(m->absent_reason) - n, "%s%s: %s",
                   n == 0 ? "" : "; ", names[index],
                   s->words[0] == '\0' ? "async-profiler wrote no reason" : s->words);
}

/* Tries whether the profiler accepts one more event together with those already taken. The session
 * is stopped again. */
static int try_event(attach__session *s, uint32_t *taken, unsigned index, attach_error *err)
{
    int rc = start_events(s, *taken | 1u << index, err);
    if (is_profiler_refusal(rc, err)) {
        note_absent(s, index);
        return ATTACH_OK;
    }
    if (rc == ATTACH_OK)
        rc = attach__session_run(s, "stop", err);
    s->running = s->running && rc != ATTACH_OK;
    *taken |= 1u << index;
    return rc;
}

/*
 * Starts a session without the events that the profiler refuses. The profiler refuses a whole
 * session and does not say for which event, so this function tries one more event at a time. When
 * all are refused, *err keeps the reason for the whole session.
 */
static int start_without_refused(attach__session *s, uint32_t wanted, attach_error *err)
{
    attach_error local = {0};
    uint32_t taken = 0;
    int rc = ATTACH_OK;
    for (unsigned i = 0; rc == ATTACH_OK && wanted >> i != 0; i++)
        if ((wanted >> i & 1) != 0)
            rc = try_event(s, &taken, i, &local);
    if (rc == ATTACH_OK && taken == 0)
        return ATTACH_ERR_TARGET;
    if (rc == ATTACH_OK)
        rc = start_events(s, taken, &local);
    if (rc != ATTACH_OK)
        *err = local;
    return rc;
}

static int paranoid_level(const attach_target *target)
{
    attach__blob text;
    int level = -1;
    if (attach__read_proc(&text, target->proc_fd, "../sys/kernel/perf_event_paranoid", 16) != 0)
        return level;
    level = (int)strtol(text.p, NULL, 10);
    free(text.p);
    return level;
}

static void explain_engine(attach__session *s)
{
    attach__marker *marker = &s->marker;
    marker->engine_reason[0] = '\0';
    if (marker->wanted == ATTACH_AP_ENGINE_AUTO && marker->engine == ATTACH_AP_ENGINE_CTIMER)
        (void)snprintf(marker->engine_reason, sizeof(marker->engine_reason),
                       "perf events are refused to this JVM (kernel.perf_event_paranoid is %d, or "
                       "its seccomp profile forbids them)",
                       paranoid_level(s->target));
    if (marker->wanted == ATTACH_AP_ENGINE_AUTO && marker->engine == ATTACH_AP_ENGINE_ITIMER)
        (void)snprintf(marker->engine_reason, sizeof(marker->engine_reason),
                       "neither perf events nor per-thread timers are allowed to this JVM");
    uint64_t reached = reached_interval(marker->engine, marker->cpu_interval_ns);
    size_t n = strlen(marker->engine_reason);
    if (reached != marker->cpu_interval_ns)
        (void)snprintf(marker->engine_reason + n, sizeof(marker->engine_reason) - n,
                       "%sa sample each %g ms, the kernel's tick, in place of %g ms",
                       n == 0 ? "" : "; ", (double)reached / 1e6,
                       (double)marker->cpu_interval_ns / 1e6);
}

/* Reads from the recording which engine runs. */
static int note_engine(attach__session *s, attach_error *err)
{
    int fd = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDONLY, 0);
    if (fd < 0)
        return attach__refuse(
            err, ATTACH_REASON_PROFILER_ERROR,
            "async-profiler in process %d started but made no recording in %s: %s",
            s->target->identity.pid, s->place.path, strerror(-fd));
    bool has_cpu = (wanted_events(&s->marker) & ~s->marker.absent & ATTACH_AP_CPU) != 0;
    s->marker.engine = has_cpu ? attach__recording_engine(fd) : ATTACH_AP_ENGINE_OFF;
    (void)close(fd);
    explain_engine(s);
    return ATTACH_OK;
}

/* Starts again when async-profiler has chosen a timer by itself: it then states the interval of
 * perf events, which a timer does not reach. */
static int start_at_tick(attach__session *s, attach_error *err)
{
    attach__marker *m = &s->marker;
    uint32_t events = wanted_events(m) & ~(uint32_t)m->absent;
    if (m->wanted != ATTACH_AP_ENGINE_AUTO || !is_timer(m->engine) ||
        reached_interval(m->engine, m->cpu_interval_ns) == m->cpu_interval_ns)
        return ATTACH_OK;
    int rc = attach__session_run(s, "stop", err);
    if (rc != ATTACH_OK)
        return rc;
    s->running = false;
    return start_with(s, m->engine, events, err);
}

static int start_profiler(attach__session *s, attach_error *err)
{
    attach_error local = {0};
    uint32_t wanted = wanted_events(&s->marker);
    int rc = start_events(s, wanted, &local);
    if (is_profiler_refusal(rc, &local) && (wanted & (wanted - 1)) != 0)
        rc = start_without_refused(s, wanted, &local);
    if (rc != ATTACH_OK) {
        if (err != NULL)
            *err = local;
        return rc;
    }
    rc = note_engine(s, err);
    if (rc == ATTACH_OK)
        rc = start_at_tick(s, err);
    return rc == ATTACH_OK ? attach__session_save(s, err) : rc;
}

/* Starts a session with async-profiler. On failure everything that it created is removed again. */
static int begin(attach__session *s, attach_error *err)
{
    attach_error local = {0};
    bool has_library = s->library[0] != '\0';
    int rc = has_library ? attach__session_make_place(s, false, &local)
                         : attach__session_install(s, &local);
    if (rc == ATTACH_OK)
        rc = attach__session_save(s, &local);
    if (rc == ATTACH_OK)
        rc = start_profiler(s, &local);
    if (rc == ATTACH_OK)
        return rc;
    if (s->running)
        (void)attach__session_run(s, "stop", NULL);
    s->running = false;
    attach__session_remove(s);
    if (err != NULL)
        *err = local;
    return rc;
}

/* Returns whether the error means that the library cannot be loaded, which does not affect the
 * JDK's own recorder. */
static bool cannot_load(int rc, const attach_error *err)
{
    return rc == ATTACH_ERR_TARGET &&
           (err->reason == ATTACH_REASON_NO_EXEC_DIR ||
            err->reason == ATTACH_REASON_LIBRARY_LOAD_FAILED ||
            err->reason == ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED ||
            err->reason == ATTACH_REASON_NO_PROFILER_LIBRARY);
}

static int refuse_loading(const attach__session *s, attach_error *err)
{
    return attach__refuse(err, ATTACH_REASON_DYNAMIC_AGENT_LOADING_DISABLED,
                          "process %d runs with -XX:-EnableDynamicAgentLoading: start it without",
                          s->target->identity.pid);
}

/* Starts a session with the JDK's own recorder. Reports the events that it lacks as absent; refuses
 * when no other events are wanted. */
static int begin_jfr(attach__session *s, const char *why, attach_error *err)
{
    static const char reason[] =
        "the JDK's own recorder has no wall-clock samples, live objects or "
        "native memory";
    uint32_t wanted = wanted_events(&s->marker);
    s->marker.absent = wanted & (ATTACH_AP_WALL | ATTACH_AP_LIVE | ATTACH_AP_NATIVEMEM);
    if (s->marker.absent == wanted)
        return attach__refuse(err, ATTACH_REASON_PROFILER_ERROR, "%s%s%.140s", reason,
                              why[0] == '\0' ? "" : ", and ", why);
    if (s->marker.absent != 0)
        (void)snprintf(s->marker.absent_reason, sizeof(s->marker.absent_reason), "%s", reason);
    return attach__jfr_begin(s, why, err);
}

/* Starts the requested recorder, or for AUTO async-profiler and else the JDK's own. */
static int begin_best(attach__session *s, attach_error *err)
{
    attach_error local = {0};
    char why[256];
    attach_ap_recorder wanted = s->options->recorder;
    const attach__marker described = s->marker;
    attach__place_sweep(s->target, s->options, s->name[0] == '\0' ? NULL : s->name);
    if (wanted == ATTACH_AP_RECORDER_JFR)
        return begin_jfr(s, "", err);
    int rc = s->target->flags.agent_loading_disabled && s->library[0] == '\0'
                 ? refuse_loading(s, &local)
                 : begin(s, &local);
    if (wanted == ATTACH_AP_RECORDER_AUTO && cannot_load(rc, &local)) {
        (void)snprintf(why, sizeof(why), "async-profiler cannot be loaded: %.180s (%s)",
                       local.message, attach_reason_name(local.reason));
        s->marker = described;
        if (s->maps.profiler[0] == '\0')
            s->library[0] = s->name[0] = '\0';
        return begin_jfr(s, why, err);
    }
    if (rc != ATTACH_OK && err != NULL)
        *err = local;
    return rc;
}

static void describe_time(char *out, size_t cap, int64_t ms)
{
    struct tm parts;
    time_t seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(out, cap, ", until %Y-%m-%dT%H:%M:%SZ", &parts);
}

static int refuse_external(const attach__session *s, attach_error *err)
{
    const char *state = s->borrowed ? "running" : "loaded";
    if (s->maps.external_kind != NULL && !s->has_marker)
        return attach__refuse(
            err, ATTACH_REASON_EXTERNAL_PROFILER, "process %d has the profiler of %s %s: %.140s",
            s->target->identity.pid, s->maps.external_kind->name, state, s->maps.external);
    char until[64] = "";
    if (s->has_marker && s->marker.until_ms > 0)
        describe_time(until, sizeof(until), s->marker.until_ms);
    else if (s->has_marker)
        (void)snprintf(until, sizeof(until), ", until it is stopped");
    const char *installation = s->has_marker ? s->marker.installation : "that loaded the profiler";
    if (s->has_marker && s->marker.owner[0] != '\0')
        return attach__refuse(err, ATTACH_REASON_EXTERNAL_PROFILER,
                              "%s has a session in process %d%s (installation %s)", s->marker.owner,
                              s->target->identity.pid, until, installation);
    return attach__refuse(err, ATTACH_REASON_EXTERNAL_PROFILER,
                          "the Hotstack installation %s has a session in process %d%s",
                          installation, s->target->identity.pid, until);
}

static int stop_running(attach__session *s, attach_error *err)
{
    int rc =
        attach__session_is_jfr(s) ? attach__jfr_stop(s, err) : attach__session_run(s, "stop", err);
    s->running = false;
    return rc;
}

/* Handles a running session: refuses when it belongs to another program or installation, takes it
 * over, or stops it. */
static int settle_running(attach_ap_state *state, attach__session *s, const attach__marker *wanted,
                          attach_error *err)
{
    bool somebody_elses = s->borrowed && !s->has_marker;
    if (somebody_elses || attach__session_is_foreign(s))
        return refuse_external(s, err);
    if (can_adopt(s, wanted)) {
        *state = ATTACH_AP_ADOPTED;
        return ATTACH_OK;
    }
    *state = ATTACH_AP_ORPHANED;
    return stop_running(s, err);
}

/* Handles the session found in the JVM. *state is NONE when a new session has to start, ADOPTED
 * when the found one goes on, and ORPHANED when it had to be stopped. */
static int settle(attach_ap_state *state, attach__session *s, const attach__marker *wanted,
                  attach_error *err)
{
    *state = ATTACH_AP_NONE;
    int rc = ATTACH_OK;
    if (s->maps.profiler[0] == '\0') /* another call may be starting one unseen */
        rc = attach__session_lock_start(s, err);
    if (rc != ATTACH_OK || !attach__session_is_known(s))
        return rc;
    rc = attach__session_probe(s, err);
    if (rc != ATTACH_OK)
        return rc;
    if (s->running)
        return settle_running(state, s, wanted, err);
    if (s->borrowed)
        rc = attach__session_check_version(s, err);
    /* another installation clears its own leftovers; a leftover of this installation may be
       where no library can be loaded */
    if (s->has_marker && attach__session_is_foreign(s) && s->maps.profiler[0] == '\0')
        attach__session_leave_place(s);
    else if (s->library[0] == '\0') {
        attach__session_remove(s);
        attach__session_leave_place(s);
    }
    return rc;
}

static int start(attach_ap_info *out, attach__session *s, attach_error *err)
{
    attach__marker wanted;
    attach_ap_state found = ATTACH_AP_NONE;
    bool left_alone = s->maps.external_kind != NULL && !s->maps.external_kind->shareable;
    if (left_alone && s->options->recorder != ATTACH_AP_RECORDER_JFR)
        return refuse_external(s, err);
    describe(&wanted, s->target, s->options);
    if ((wanted_events(&wanted) & ~(uint32_t)ATTACH_AP_LIVE) == 0)
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "a session needs a CPU engine or the interval of another event");
    if (wanted.live != 0 && wanted.alloc_bytes == 0)
        return attach__fail(err, ATTACH_ERR_USAGE, "live objects need an allocation interval");
    int rc = settle(&found, s, &wanted, err);
    if (rc != ATTACH_OK)
        return rc;
    if (found != ATTACH_AP_ADOPTED) {
        s->marker = wanted;
        rc = begin_best(s, err);
        if (rc != ATTACH_OK)
            return rc;
    }
    attach__session_info(out, s, found == ATTACH_AP_NONE ? ATTACH_AP_OWNED : found);
    return ATTACH_OK;
}

int attach_ap_start(attach_ap_info *out, attach_target *target, const attach_ap_options *options,
                    uint64_t deadline_ns, attach_error *err)
{
    attach__session s;
    memset(out, 0, sizeof(*out));
    int rc = attach__session_open(&s, target, options, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = start(out, &s, err);
    attach__session_close(&s);
    return rc;
}
