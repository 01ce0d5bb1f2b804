/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/unread_impl.h"
#include "read/reader_impl.h"
#include "read/skim_impl.h"

#include <stdlib.h>
#include <string.h>

/* Slots of the events that are read here. */
enum setting_slot { SETTING_ID, SETTING_NAME, SETTING_VALUE, SETTING_SLOTS };
enum jvm_slot {
    JVM_NAME,
    JVM_VERSION,
    JVM_ARGS,
    JVM_FLAGS,
    JVM_JAVA_ARGS,
    JVM_START,
    JVM_PID,
    JVM_SLOTS
};
enum { LOST_AMOUNT };
enum datadog_slot { DATADOG_CPU_MS, DATADOG_WALL_MS, DATADOG_SLOTS };

static const jfr__want setting_wants[] = {{"id", SETTING_ID, JFR__WANT_INTEGER},
                                          {"name", SETTING_NAME, JFR__WANT_STRING},
                                          {"value", SETTING_VALUE, JFR__WANT_STRING}};
static const jfr__want jvm_wants[] = {{"jvmName", JVM_NAME, JFR__WANT_STRING},
                                      {"jvmVersion", JVM_VERSION, JFR__WANT_STRING},
                                      {"jvmArguments", JVM_ARGS, JFR__WANT_STRING},
                                      {"jvmFlags", JVM_FLAGS, JFR__WANT_STRING},
                                      {"javaArguments", JVM_JAVA_ARGS, JFR__WANT_STRING},
                                      {"jvmStartTime", JVM_START, JFR__WANT_INTEGER},
                                      {"pid", JVM_PID, JFR__WANT_INTEGER}};

static const jfr__want samples_wants[] = {{"lostSamples", LOST_AMOUNT, JFR__WANT_INTEGER}};
static const jfr__want bytes_wants[] = {{"amount", LOST_AMOUNT, JFR__WANT_INTEGER}};

static const jfr__want datadog_wants[] = {{"cpuInterval", DATADOG_CPU_MS, JFR__WANT_INTEGER},
                                          {"wallInterval", DATADOG_WALL_MS, JFR__WANT_INTEGER}};

/* async-profiler's defaults: DEFAULT_INTERVAL in arguments.h, five times that in wallClock.cpp. */
#define DEFAULT_CPU_NS      UINT64_C(10000000)
#define DEFAULT_WALL_NS     UINT64_C(50000000)
#define DEFAULT_ALLOC_BYTES UINT64_C(524287)

/* One event type of interest: its id in this chunk and how to read it. */
struct event {
    uint64_t type_id;
    jfr__plan plan;
    bool defined;
};

struct scan {
    jfr_chunk *chunk;
    struct event setting;
    struct event jvm;
    struct event lost_samples;
    struct event lost_bytes;
    struct event datadog;
    jfr_intervals intervals;
    bool any;         /* this chunk states settings, which replace those of earlier chunks */
    uint64_t main_ns; /* async-profiler's "interval"; its meaning depends on its "event" */
    bool has_main;
    bool has_wall;
    jfr__skim skim;
    jfr_error *err;
};

static int define(struct scan *s, struct event *event, const char *name, const jfr__want *wants,
                  size_t want_count)
{
    jfr_chunk *chunk = s->chunk;
    const jfr__type *type = jfr__metadata_named(&chunk->meta, name);
    event->defined = type != NULL;
    if (type == NULL)
        return 0;
    event->type_id = type->id;
    jfr__skim_want(&s->skim, type->id, true);
    return jfr__plan_compile(&event->plan, &chunk->meta, type, wants, want_count,
                             chunk->info.compressed, chunk->file->options.max_metadata_depth,
                             &chunk->arena, s->err);
}

/* Parses the JDK's "20 ms" or async-profiler's "10000000" to nanoseconds; 0 when it is no time. */
static uint64_t parse_ns(jfr_str s)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {" ns", 1},          {" us", 1000},         {" ms", 1000000},      {" s", 1000000000},
        {" m", 60000000000}, {" h", 3600000000000}, {" d", 86400000000000}};
    uint64_t value = 0;
    size_t i = 0;
    while (i < s.len && s.data[i] >= '0' && s.data[i] <= '9' && value < UINT64_MAX / 20)
        value = value * 10 + (uint64_t)(s.data[i++] - '0');
    if (i == 0 || i == s.len)
        return value;
    const jfr_str unit = {s.data + i, s.len - i};
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        uint64_t ns;
        if (jfr__str_is(unit, units[u].name) && !__builtin_mul_overflow(value, units[u].ns, &ns))
            return ns;
    }
    return 0;
}

static uint64_t or_default(uint64_t value, uint64_t fallback)
{
    return value != 0 ? value : fallback;
}

/* Copies a chunk's string so that it lives as long as the file. */
static int keep_in(jfr_file *file, jfr_str *kept, jfr_str text, jfr_error *err)
{
    if (text.data == NULL || (kept->len == text.len && kept->data != NULL &&
                              memcmp(kept->data, text.data, text.len) == 0))
        return 0;
    char *copy = jfr__arena_alloc(&file->recording_arena, text.len + 1);
    if (copy == NULL)
        return jfr__arena_fail(&file->recording_arena, err);
    memcpy(copy, text.data, text.len);
    *kept = (jfr_str){copy, text.len};
    return 0;
}

static int keep(struct scan *s, jfr_str *kept, jfr_str text)
{
    return keep_in(s->chunk->file, kept, text, s->err);
}

static uint32_t main_event_of(jfr_str event)
{
    static const char *const cpu[] = {"cpu", "cpu-clock", "task-clock", "ctimer", "itimer"};
    for (size_t i = 0; i < sizeof(cpu) / sizeof(cpu[0]); i++) {
        if (jfr__str_is(event, cpu[i]))
            return JFR_MAIN_CPU;
    }
    if (jfr__str_is(event, "wall"))
        return JFR_MAIN_WALL;
    return event.len == 0 ? JFR_MAIN_UNKNOWN : JFR_MAIN_COUNTER;
}

/*
 * Reads a setting with one of the names that async-profiler's FlightRecorder::writeSettings writes.
 */
static int take_async_setting(struct scan *s, const jfr_setting *set)
{
    jfr_recording_info *recording = &s->chunk->file->recording;
    jfr_intervals *out = &s->intervals;
    uint64_t value = parse_ns(set->value);
    if (jfr__str_is(set->name, "version"))
        return keep(s, &recording->profiler_version, set->value);
    if (jfr__str_is(set->name, "engine"))
        return keep(s, &recording->engine, set->value);
    if (jfr__str_is(set->name, "event")) {
        out->main_event = main_event_of(set->value);
        return keep(s, &recording->event, set->value);
    }
    if (jfr__str_is(set->name, "interval")) {
        s->main_ns = value;
        s->has_main = true;
    } else if (jfr__str_is(set->name, "wall")) {
        out->wall_ns = or_default(value, DEFAULT_WALL_NS);
        s->has_wall = true;
    } else if (jfr__str_is(set->name, "alloc")) {
        out->alloc_bytes = or_default(value, DEFAULT_ALLOC_BYTES);
    } else if (jfr__str_is(set->name, "lock")) {
        out->lock_ns = value;
    } else if (jfr__str_is(set->name, "nativelock")) {
        out->native_lock_ns = value;
    } else if (jfr__str_is(set->name, "nativemem")) {
        out->nativemem_bytes = value;
    }
    return 0;
}

/* Reads a setting of Datadog's profiler, which has the form of async-profiler's but is for its own
 * events. */
static void take_datadog_setting(struct scan *s, const jfr_setting *set)
{
    if (!jfr__str_is(set->name, "interval"))
        return;
    if (jfr__str_is(set->event, "datadog.ExecutionSample"))
        s->intervals.cpu_ns = parse_ns(set->value);
    else if (jfr__str_is(set->event, "datadog.MethodSample"))
        s->intervals.wall_ns = parse_ns(set->value);
}

static void take_jdk_setting(struct scan *s, const jfr_setting *set)
{
    take_datadog_setting(s, set);
    if (!jfr__str_is(set->name, "period"))
        return;
    if (jfr__str_is(set->event, "jdk.ExecutionSample"))
        s->intervals.cpu_ns = parse_ns(set->value);
    else if (jfr__str_is(set->event, "jdk.NativeMethodSample"))
        s->intervals.native_ns = parse_ns(set->value);
}

static int text_at(struct scan *s, uint64_t offset, jfr_str *out)
{
    *out = (jfr_str){NULL, 0};
    return offset == 0 ? 0 : jfr__string_at(s->chunk, offset, out, s->err);
}

static int take_setting(struct scan *s, const uint64_t *slots)
{
    jfr_chunk *chunk = s->chunk;
    const jfr__type *type = jfr__metadata_type(&chunk->meta, slots[SETTING_ID]);
    jfr_setting set = {.event = type != NULL ? type->name : (jfr_str){NULL, 0}};
    int rc = text_at(s, slots[SETTING_NAME], &set.name);
    if (rc == 0)
        rc = text_at(s, slots[SETTING_VALUE], &set.value);
    void *list = chunk->settings;
    if (rc == 0 && jfr__grow(&chunk->file->allocator, &list, &chunk->setting_cap,
                             chunk->setting_count + 1, sizeof(*chunk->settings)) < 0)
        return jfr__fail_nomem(s->err);
    if (rc < 0)
        return rc;
    chunk->settings = list;
    chunk->settings[chunk->setting_count++] = set;
    if (!s->any)
        s->intervals = (jfr_intervals)JFR_INTERVALS_INIT;
    s->any = true;
    if (chunk->producer == JFR_PRODUCER_ASYNC_PROFILER)
        return take_async_setting(s, &set);
    take_jdk_setting(s, &set);
    return 0;
}

static int take_jvm(struct scan *s, const uint64_t *slots)
{
    jfr_recording_info *recording = &s->chunk->file->recording;
    jfr_str *const targets[] = {[JVM_NAME] = &recording->jvm_name,
                                [JVM_VERSION] = &recording->jvm_version,
                                [JVM_ARGS] = &recording->jvm_args,
                                [JVM_FLAGS] = &recording->jvm_flags,
                                [JVM_JAVA_ARGS] = &recording->java_args};
    for (int i = JVM_NAME; i <= JVM_JAVA_ARGS; i++) {
        jfr_str text;
        int rc = text_at(s, slots[i], &text);
        if (rc == 0)
            rc = keep(s, targets[i], text);
        if (rc < 0)
            return rc;
    }
    recording->jvm_start_ms = (int64_t)slots[JVM_START];
    recording->pid = (int64_t)slots[JVM_PID];
    return 0;
}

static void add_lost(uint64_t *sum, uint64_t amount)
{
    *sum = amount > UINT64_MAX - *sum ? UINT64_MAX : *sum + amount;
}

static int take_lost_samples(struct scan *s, const uint64_t *slots)
{
    add_lost(&s->chunk->file->loss.recorder_samples, (uint32_t)slots[LOST_AMOUNT]);
    return 0;
}

static int take_lost_bytes(struct scan *s, const uint64_t *slots)
{
    add_lost(&s->chunk->file->loss.recorder_bytes, slots[LOST_AMOUNT]);
    return 0;
}

static uint64_t in_ns(uint64_t millis)
{
    return millis <= (uint64_t)INT64_MAX / 1000000 ? millis * 1000000 : 0; /* -1 = off */
}

/* Reads the intervals of older versions of Datadog's profiler, which state them only here. */
static int take_datadog(struct scan *s, const uint64_t *slots)
{
    if (s->intervals.cpu_ns == 0)
        s->intervals.cpu_ns = in_ns(slots[DATADOG_CPU_MS]);
    if (s->intervals.wall_ns == 0)
        s->intervals.wall_ns = in_ns(slots[DATADOG_WALL_MS]);
    return 0;
}

/* Reads one event of interest. It skips a damaged event, since no sample depends on it alone. */
static int take(struct scan *s, const struct event *event, jfr__cursor c,
                int (*handler)(struct scan *s, const uint64_t *slots))
{
    uint64_t slots[JVM_SLOTS] = {0};
    jfr__plan_run(&event->plan, &c, slots);
    int rc = c.failed ? JFR_ERR_FORMAT : handler(s, slots);
    return rc == JFR_ERR_FORMAT ? 0 : rc;
}

/* Reads an event that yields no sample, if it is of interest. */
static int take_other(struct scan *s, uint64_t type, jfr__cursor body)
{
    const struct {
        const struct event *event;
        int (*handler)(struct scan *s, const uint64_t *slots);
    } known[] = {{&s->setting, take_setting},
                 {&s->jvm, take_jvm},
                 {&s->lost_samples, take_lost_samples},
                 {&s->lost_bytes, take_lost_bytes},
                 {&s->datadog, take_datadog}};
    jfr__unread_count(s->chunk, type);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].event->defined && type == known[i].event->type_id)
            return take(s, known[i].event, body, known[i].handler);
    }
    return 0;
}

/*
 * Walks the chunk to find its settings and the kinds of samples that it has. async-profiler writes
 * its settings before the first sample and never writes two events that count the same thing, so in
 * its chunks the walk ends at the first sample.
 */
static int walk(struct scan *s)
{
    jfr_chunk *chunk = s->chunk;
    bool async = chunk->producer == JFR_PRODUCER_ASYNC_PROFILER;
    jfr__cursor c = jfr__chunk_cursor(chunk, chunk->info.offset + JFR__HEADER_SIZE, chunk->end);
    jfr__event_head head;
    for (uint32_t i = 0; i < chunk->plan_by_type.count; i++)
        jfr__skim_want(&s->skim, chunk->event_plans[i].type_id, true);
    for (uint32_t i = 0; i < chunk->meta.type_count; i++)
        if (chunk->unread_at[i] > 0)
            jfr__skim_want(&s->skim, chunk->meta.types[i].id, true);
    while (jfr__cursor_left(&c) > 0) {
        uint64_t offset = jfr__cursor_offset(&c);
        if (!jfr__event_next(&c, &head)) { /* the walks over samples and events record this loss */
            c.failed = false;
            c.pos = c.base + jfr__boundary_behind(chunk, offset);
            continue;
        }
        jfr__cursor body = c;
        body.end = c.base + head.end;
        c.pos = body.end;
        uint32_t plan = jfr__idmap_find(&chunk->plan_by_type, head.type);
        if (plan == JFR_NONE) {
            int rc = take_other(s, head.type, body);
            if (rc < 0)
                return rc;
        } else {
            chunk->seen[chunk->event_plans[plan].source] = true;
            jfr__skim_want(&s->skim, head.type, false);
            if (async && chunk->unread_count == 0)
                return 0;
        }
        jfr__skim_over(&s->skim, &c);
    }
    return 0;
}

/* Returns async-profiler's default for a counter (perfEvents_linux.cpp, AVAILABLE_EVENTS); other
 * events are counted one by one. */
static uint64_t default_count(jfr_str event)
{
    static const struct {
        const char *name;
        uint64_t count;
    } counters[] = {
        {"cycles", 1000000},       {"instructions", 1000000}, {"cache-references", 1000000},
        {"cache-misses", 1000},    {"branches", 1000000},     {"branch-instructions", 1000000},
        {"branch-misses", 1000},   {"bus-cycles", 1000000},   {"L1-dcache-load-misses", 1000000},
        {"LLC-load-misses", 1000}, {"dTLB-load-misses", 1000}};
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        if (jfr__str_is(event, counters[i].name))
            return counters[i].count;
    return 1;
}

static void resolve_async(struct scan *s)
{
    jfr_intervals *out = &s->intervals;
    if (!s->any || !s->has_main)
        return;
    if (out->main_event == JFR_MAIN_WALL && !s->has_wall)
        out->wall_ns = or_default(s->main_ns, DEFAULT_WALL_NS);
    if (out->main_event == JFR_MAIN_CPU)
        out->cpu_ns = or_default(s->main_ns, DEFAULT_CPU_NS);
    if (out->main_event == JFR_MAIN_COUNTER)
        out->events = or_default(s->main_ns, default_count(s->chunk->file->recording.event));
}

/* Leaves out one of two kinds of events that measure the same thing; jfr/sample.h has the rules. */
static void decide_rivals(jfr_chunk *chunk)
{
    const bool *seen = chunk->seen;
    bool *out = chunk->left_out;
    out[JFR_SOURCE_ALLOC_SAMPLE] = seen[JFR_SOURCE_ALLOC_IN_TLAB];
    out[JFR_SOURCE_ALLOC_OUTSIDE] =
        !seen[JFR_SOURCE_ALLOC_IN_TLAB] && seen[JFR_SOURCE_ALLOC_SAMPLE];
    out[JFR_SOURCE_EXECUTION] = seen[JFR_SOURCE_CPU_TIME];
}

int jfr__settings_read(jfr_chunk *chunk, jfr_error *err)
{
    jfr_file *file = chunk->file;
    struct scan s = {.chunk = chunk, .intervals = file->intervals[chunk->producer], .err = err};
    int rc = jfr__skim_begin(&s.skim, chunk, err);
    if (rc == 0)
        rc = jfr__unread_define(chunk, err);
    if (rc == 0)
        rc = define(&s, &s.setting, "jdk.ActiveSetting", setting_wants, SETTING_SLOTS);
    if (rc == 0)
        rc = define(&s, &s.jvm, "jdk.JVMInformation", jvm_wants, JVM_SLOTS);
    if (rc == 0)
        rc = define(&s, &s.lost_samples, "jdk.CPUTimeSamplesLost", samples_wants, 1);
    if (rc == 0)
        rc = define(&s, &s.lost_bytes, "jdk.DataLoss", bytes_wants, 1);
    if (rc == 0)
        rc = define(&s, &s.datadog, "datadog.DatadogProfilerConfig", datadog_wants, DATADOG_SLOTS);
    if (rc == 0)
        rc = walk(&s);
    if (rc < 0)
        return rc;
    resolve_async(&s);
    decide_rivals(chunk);
    chunk->intervals = s.intervals;
    chunk->states_settings = s.any;
    file->intervals[chunk->producer] = s.intervals;
    file->recording.producer = chunk->producer;
    return 0;
}

int jfr__recording_take(jfr_file *file, const jfr_recording_info *from, jfr_error *err)
{
    jfr_recording_info *to = &file->recording;
    jfr_str *const kept[] = {&to->engine,    &to->event,       &to->profiler_version,
                             &to->jvm_name,  &to->jvm_version, &to->jvm_args,
                             &to->jvm_flags, &to->java_args};
    const jfr_str texts[] = {from->engine,    from->event,       from->profiler_version,
                             from->jvm_name,  from->jvm_version, from->jvm_args,
                             from->jvm_flags, from->java_args};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int rc = keep_in(file, kept[i], texts[i], err);
        if (rc < 0)
            return rc;
    }
    to->producer = from->producer;
    if (from->pid != 0 || from->jvm_start_ms != 0) {
        to->pid = from->pid;
        to->jvm_start_ms = from->jvm_start_ms;
    }
    return 0;
}

int jfr_chunk_intervals(const jfr_chunk *chunk, jfr_intervals *out, jfr_error *err)
{
    size_t size = out->size;
    if (size < sizeof(size_t))
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_intervals has no size: start from JFR_INTERVALS_INIT.");
    memset(out, 0, size);
    memcpy(out, &chunk->intervals, size < sizeof(*out) ? size : sizeof(*out));
    out->size = size;
    return 0;
}

const jfr_recording_info *jfr_chunk_recording(const jfr_chunk *chunk)
{
    return &chunk->file->recording;
}

size_t jfr_chunk_setting_count(const jfr_chunk *chunk)
{
    return chunk->setting_count;
}

int jfr_chunk_setting(const jfr_chunk *chunk, size_t index, jfr_setting *out, jfr_error *err)
{
    if (index >= chunk->setting_count)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "Setting %zu does not exist: the chunk has %zu.",
                         index, chunk->setting_count);
    *out = chunk->settings[index];
    return 0;
}
