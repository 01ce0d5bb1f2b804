/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <recording/recording.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t reader_start_ms(void *context, int fd)
{
    enum { START_NANOS = 32 }; /* of a JFR chunk header (docs/formats/jfr.md), big-endian */
    (void)context;
    uint8_t bytes[8];
    uint64_t nanos = 0;
    if (pread(fd, bytes, sizeof(bytes), START_NANOS) != (ssize_t)sizeof(bytes))
        return 0;
    for (size_t i = 0; i < sizeof(bytes); i++)
        nanos = nanos << 8 | bytes[i];
    return nanos / 1000000;
}

/*
 * Facts kept from window to window: a recording states its settings in its first chunk only, and a
 * session may be older than this process.
 */
typedef struct remembered {
    jfr_intervals intervals;
    char engine[32];
    bool told_uncounted; /* profile.uncounted named samples that could tell something */
    bool told_by_design; /* it named samples that would make the profile wrong */
} remembered;

static remembered *recall(void **memory, const event_intervals *events)
{
    remembered *one = *memory;
    if (one != NULL)
        return one;
    one = calloc(1, sizeof(*one));
    if (one == NULL)
        return NULL;
    one->intervals = (jfr_intervals)JFR_INTERVALS_INIT;
    const uint64_t *of = events->of;
    one->intervals.cpu_ns = of[EVENT_CPU];
    one->intervals.alloc_bytes = of[EVENT_ALLOC] != 0 ? of[EVENT_ALLOC] : of[EVENT_LIVE];
    one->intervals.lock_ns = of[EVENT_LOCK];
    one->intervals.wall_ns = of[EVENT_WALL];
    one->intervals.nativemem_bytes = of[EVENT_NATIVEMEM];
    one->intervals.main_event = of[EVENT_CPU] != 0 ? JFR_MAIN_CPU : JFR_MAIN_UNKNOWN;
    *memory = one;
    return one;
}

static bool is_stopped(const reader *self)
{
    return self->stop != NULL && atomic_load(self->stop);
}

/* recording_tap.progress */
static int look_for_stop(void *context, uint64_t done)
{
    (void)done;
    return is_stopped(context);
}

static int read_all(recording *into, int fd, uint64_t size, char *message, size_t message_size)
{
    recording_error err = {0};
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        (void)snprintf(message, message_size, "the recording cannot be mapped: %s",
                       strerror(errno));
        return -1;
    }
    int rc = recording_add_mem(into, bytes, size, &err);
    munmap(bytes, size);
    if (rc != 0)
        (void)snprintf(message, message_size, "byte %llu: %s", (unsigned long long)err.offset,
                       err.message);
    return rc;
}

/* The conversion of one aggregate into a profile. */
typedef struct conversion {
    const sagg *from;
    const recording_info *info;
    const event_intervals *events;
    const char *engine;
    profile *to;
    uint32_t part_of[PROFILE_SOURCE_END]; /* index + 1, 0 = the source is absent */
} conversion;

static int add_text(conversion *in, sagg_str text, uint32_t *index)
{
    return string_table_add(&in->to->strings, text.data, text.size, index);
}

static uint32_t source_of(uint32_t type)
{
    return profile_type_get(type)->source;
}

/* Returns the share of one type in the sum of its source. Every event has an amount. Where no type
 * estimates how many events one stands for, it counts as one. */
static profile_sum sum_of(uint32_t type, const sagg_totals *totals)
{
    const profile_type_info *info = profile_type_get(type);
    if (info->measure == PROFILE_COUNT)
        return (profile_sum){.count = totals->value};
    bool counted = profile_type_of(info->source, PROFILE_COUNT) != PROFILE_TYPE_NONE;
    return (profile_sum){.raw_amount = totals->raw_value,
                         .amount = totals->value,
                         .raw_count = totals->samples,
                         .count = counted ? 0 : totals->samples};
}

static void add_totals(conversion *in, uint32_t type)
{
    profile *to = in->to;
    const profile_type_info *info = profile_type_get(type);
    sagg_totals totals = sagg_type_totals(in->from, type);
    if (totals.samples == 0 && !event_intervals_yield(in->events, info->source))
        return;
    if (in->part_of[info->source] == 0)
        in->part_of[info->source] = (uint32_t)++to->part_count;
    profile_part *part = &to->parts[in->part_of[info->source] - 1];
    profile_sum sum = sum_of(type, &totals);
    profile_sum_add(&part->total, &sum);
    if (info->measure == PROFILE_COUNT) {
        part->truncated_count = in->info->truncated_raw[type];
    } else {
        part->interval = in->info->interval[type];
        part->truncated_amount = in->info->truncated_raw[type];
    }
}

/* Adds a part for every source that the session records, also for those without events. */
static int convert_parts(conversion *in)
{
    profile *to = in->to;
    to->parts = calloc(PROFILE_SOURCE_END, sizeof(*to->parts));
    if (to->parts == NULL)
        return -1;
    sagg_loss lost = sagg_losses(in->from);
    for (uint32_t type = 1; type < PROFILE_TYPE_END; type++)
        add_totals(in, type);
    for (uint32_t source = 1; source < PROFILE_SOURCE_END; source++) {
        if (in->part_of[source] == 0)
            continue;
        profile_part *part = &to->parts[in->part_of[source] - 1];
        part->source = source;
        part->lost_events = in->info->counts.bad_events;
        part->dropped_stacks = lost.stacks_dropped;
        (void)snprintf(part->engine, sizeof(part->engine), "%.15s", in->engine);
    }
    return 0;
}

static int convert_frames(conversion *in)
{
    profile *to = in->to;
    to->frame_count = sagg_frame_count(in->from);
    to->frames = calloc(to->frame_count + 1, sizeof(*to->frames));
    if (to->frames == NULL)
        return -1;
    for (uint32_t i = 0; i < to->frame_count; i++) {
        sagg_frame frame = {0};
        profile_frame *one = &to->frames[i];
        if (!sagg_frame_at(in->from, i, &frame) ||
            add_text(in, frame.class_name, &one->class_name) != 0 ||
            add_text(in, frame.method, &one->method) != 0 ||
            add_text(in, frame.file, &one->file) != 0)
            return -1;
        one->line = frame.line;
        one->kind = frame.kind;
    }
    return 0;
}

static bool is_truncated(const conversion *in, const sagg_stack *stack)
{
    static const char marker[] = "[truncated]";
    sagg_frame root = {0};
    return stack->count > 0 &&
           sagg_frame_at(in->from, sagg_stack_frame(stack, stack->count - 1), &root) &&
           root.kind == SAGG_UNKNOWN && root.class_name.size == 0 &&
           root.method.size == sizeof(marker) - 1 &&
           memcmp(root.method.data, marker, sizeof(marker) - 1) == 0;
}

static int convert_stacks(conversion *in)
{
    profile *to = in->to;
    size_t room = 0;
    to->stack_count = sagg_stack_count(in->from);
    to->stacks = calloc(to->stack_count + 1, sizeof(*to->stacks));
    if (to->stacks == NULL)
        return -1;
    for (uint32_t i = 0; i < to->stack_count; i++) {
        sagg_stack stack = {0};
        sagg_stack_id id = {0};
        if (!sagg_stack_at(in->from, i, &stack) || !sagg_stack_id_at(in->from, i, &id))
            return -1;
        profile_stack *one = &to->stacks[i];
        memcpy(one->id, id.bytes, STACK_ID_SIZE);
        one->normaliser = SAGG_NORMALISE_V1;
        one->flags = is_truncated(in, &stack) ? STACK_TRUNCATED : 0;
        one->first = (uint32_t)to->stack_frame_count;
        one->depth = stack.count;
        for (uint32_t k = 0; k < stack.count; k++) {
            if (array_reserve((void **)&to->stack_frames, &room, to->stack_frame_count,
                              sizeof(*to->stack_frames)) != 0)
                return -1;
            to->stack_frames[to->stack_frame_count++] = sagg_stack_frame(&stack, k);
        }
    }
    return 0;
}

static int pool_of(conversion *in, uint32_t thread, uint32_t *index)
{
    sagg_thread one = {0};
    if (!sagg_thread_at(in->from, thread, &one))
        return -1;
    return add_text(in, one.pool, index);
}

static int convert_row(conversion *in, const sagg_entry *entry, profile_row *row)
{
    sagg_str object = {0};
    *row = (profile_row){.part = in->part_of[source_of(entry->type)] - 1,
                         .stack = entry->stack,
                         .sum = sum_of(entry->type, &entry->totals)};
    if (!sagg_label_at(in->from, entry->label, &row->facet, &object) ||
        pool_of(in, entry->thread, &row->pool) != 0)
        return -1;
    if (entry->stack == SAGG_DROPPED) {
        in->to->parts[row->part].dropped_amount += row->sum.raw_amount;
        in->to->parts[row->part].dropped_count += row->sum.raw_count;
    }
    return add_text(in, object, &row->object);
}

static int convert_rows(conversion *in)
{
    profile *to = in->to;
    size_t room = 0;
    size_t cursor = 0;
    sagg_entry entry;
    while (sagg_next(in->from, &cursor, &entry)) {
        if (array_reserve((void **)&to->rows, &room, to->row_count, sizeof(*to->rows)) != 0 ||
            convert_row(in, &entry, &to->rows[to->row_count]) != 0)
            return -1;
        to->row_count++;
    }
    return 0;
}

static int convert_pool_seconds(conversion *in, uint32_t type, uint32_t thread, uint32_t seconds,
                                size_t *room)
{
    profile *to = in->to;
    const uint64_t *values = sagg_seconds(in->from, type, thread);
    uint32_t pool = 0;
    if (values == NULL)
        return 0;
    if (pool_of(in, thread, &pool) != 0)
        return -1;
    for (uint32_t second = 0; second < seconds; second++) {
        if (values[second] == 0)
            continue;
        if (array_reserve((void **)&to->seconds, room, to->second_count, sizeof(*to->seconds)) != 0)
            return -1;
        sagg_totals totals = {.value = values[second]};
        profile_sum sum = sum_of(type, &totals);
        to->seconds[to->second_count++] = (profile_second){.part = in->part_of[source_of(type)] - 1,
                                                           .pool = pool,
                                                           .second = second,
                                                           .amount = sum.amount,
                                                           .count = sum.count};
    }
    return 0;
}

static int convert_thread(conversion *in, uint32_t type, uint32_t index, const sagg_thread *thread,
                          size_t *room)
{
    profile *to = in->to;
    sagg_totals totals = sagg_thread_totals(in->from, index, type);
    bool exact = thread->os_tid != 0 || thread->java_tid != 0 || thread->name.size != 0;
    if (!exact || totals.samples == 0)
        return 0;
    if (array_reserve((void **)&to->threads, room, to->thread_count, sizeof(*to->threads)) != 0)
        return -1;
    profile_thread *one = &to->threads[to->thread_count++];
    *one = (profile_thread){.part = in->part_of[source_of(type)] - 1,
                            .os_tid = thread->os_tid > 0 ? (uint64_t)thread->os_tid : 0,
                            .java_tid = thread->java_tid > 0 ? (uint64_t)thread->java_tid : 0,
                            .sum = sum_of(type, &totals)};
    return add_text(in, thread->name, &one->name) != 0 ||
                   add_text(in, thread->pool, &one->pool) != 0
               ? -1
               : 0;
}

static int convert_threads(conversion *in, uint32_t seconds)
{
    size_t second_room = 0;
    size_t thread_room = 0;
    for (uint32_t index = 0; index < sagg_thread_count(in->from); index++) {
        sagg_thread thread = {0};
        if (!sagg_thread_at(in->from, index, &thread))
            return -1;
        for (uint32_t type = 1; type < PROFILE_TYPE_END; type++) {
            if (in->part_of[source_of(type)] == 0)
                continue;
            /* The seconds of a pool are those of its own thread, and of threads without a pool. */
            if (thread.pool_thread == index &&
                convert_pool_seconds(in, type, index, seconds, &second_room) != 0)
                return -1;
            if (convert_thread(in, type, index, &thread, &thread_room) != 0)
                return -1;
        }
    }
    return 0;
}

typedef struct note_taker {
    const remembered *known;
    profile *out;
    bool told_by_design;
} note_taker;

/* recording_note_fn */
static void take_note(void *ctx, recording_severity severity, const char *text)
{
    note_taker *self = ctx;
    bool by_design = severity == RECORDING_BY_DESIGN;
    if (by_design ? self->known->told_by_design
                  : severity != RECORDING_UNCOUNTED || self->known->told_uncounted)
        return;
    size_t used = strlen(self->out->uncounted);
    (void)snprintf(self->out->uncounted + used, sizeof(self->out->uncounted) - used, "%s%s%s",
                   used > 0 ? "; " : "", by_design ? "not counted by design: " : "", text);
    self->told_by_design |= by_design;
}

static void note_uncounted(const recording *read, remembered *known, profile *out)
{
    note_taker self = {known, out, known->told_by_design};
    recording_info info;
    const recording_unread *unread;
    recording_get_info(read, &info);
    out->uncounted_events = info.counts.unmeasured_events;
    for (size_t i = recording_unread_events(read, &unread); i > 0; i--)
        out->uncounted_events += unread[i - 1].count;
    recording_notes(read, take_note, &self);
    known->told_uncounted |= out->uncounted_events > 0;
    known->told_by_design = self.told_by_design;
}

static int convert(recording *read, const remembered *known, const window_span *span,
                   const event_intervals *events, profile *out)
{
    recording_info info;
    recording_get_info(read, &info);
    conversion in = {.from = recording_aggregate(read),
                     .info = &info,
                     .events = events,
                     .engine = known->engine,
                     .to = out};
    uint32_t empty = 0;
    out->covered_ms = info.covered_ns / 1000000;
    out->excess_events = info.counts.excess_samples;
    if (info.profiler[0] != '\0')
        (void)snprintf(out->profiler, sizeof(out->profiler), "async-profiler %s", info.profiler);
    else if (strcmp(info.engine, "jfr") == 0)
        (void)snprintf(out->profiler, sizeof(out->profiler), "JDK Flight Recorder");
    if (in.from == NULL || string_table_add(&out->strings, "", 0, &empty) != 0 ||
        convert_parts(&in) != 0 || convert_frames(&in) != 0 || convert_stacks(&in) != 0 ||
        convert_rows(&in) != 0)
        return -1;
    if (convert_threads(&in, (span->length_ms + 999) / 1000) != 0)
        return -1;
    for (size_t i = 0; i < out->part_count; i++) {
        if (out->parts[i].dropped_count == 0)
            out->parts[i].dropped_stacks = 0;
    }
    profile_unite(out);
    return 0;
}

static void remember(remembered *known, const recording *read)
{
    recording_info info;
    recording_get_info(read, &info);
    known->intervals = info.intervals;
    if (info.engine[0] != '\0')
        memcpy(known->engine, info.engine, sizeof(known->engine));
}

int reader_parse(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size)
{
    reader *self = context;
    if (is_stopped(self)) {
        (void)snprintf(message, message_size, "reading was stopped before it began");
        return -1;
    }
    remembered *known = recall(memory, events);
    if (known == NULL) {
        (void)snprintf(message, message_size, "out of memory");
        return -1;
    }
    recording_options options = RECORDING_OPTIONS_INIT;
    options.group = SAGG_BY_POOL;
    options.facets = true;
    options.objects = true;
    options.max_stacks = self->max_stacks;
    options.max_threads = self->max_threads;
    options.max_bytes = self->max_bytes;
    options.max_samples = self->max_events;
    options.origin_ns = (int64_t)span->start_ms * 1000000;
    options.seconds = (span->length_ms + 999) / 1000;
    options.inherit = &known->intervals;
    options.tap = (recording_tap){.progress = look_for_stop, .ctx = self};
    recording *read = NULL;
    recording_error err = {0};
    if (recording_new(&read, &options, &err) != 0) {
        (void)snprintf(message, message_size, "%s", err.message);
        return -1;
    }
    int rc = read_all(read, fd, size, message, message_size);
    if (rc == 0) {
        remember(known, read);
        note_uncounted(read, known, out);
        rc = convert(read, known, span, events, out);
        if (rc != 0)
            (void)snprintf(message, message_size, "out of memory");
    }
    recording_free(read);
    return rc;
}

void reader_forget(void *context, void *memory)
{
    (void)context;
    free(memory);
}

void reader_keep(void *context, int fd, uint64_t size, const queue_position *from)
{
    const reader *self = context;
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%u-%llu-%020llu.jfr", self->keep_dir,
                   from->jvm.id.host_pid, (unsigned long long)from->session_ms,
                   (unsigned long long)from->offset);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0)
        return;
    off_t at = 0;
    while ((uint64_t)at < size) {
        char piece[65536];
        ssize_t got = pread(fd, piece, sizeof(piece), at);
        if (got <= 0 || write(to, piece, (size_t)got) != got)
            break;
        at += got;
    }
    close(to);
}
