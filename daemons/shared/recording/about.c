/* SPDX-License-Identifier: Apache-2.0 */
/* Takes over a chunk's settings, counts and time. */
#include <ctype.h>
#include <string.h>

#include "internal.h"

static void copy_text(char *to, size_t room, jfr_str from)
{
    size_t size = from.len < room - 1 ? from.len : room - 1;
    if (from.len == 0)
        return;
    while (size > 0 && size < from.len && ((unsigned char)from.data[size] & 0xC0) == 0x80)
        size--;
    memcpy(to, from.data, size);
    to[size] = '\0';
}

static jfr_str engine_of(const jfr_recording_info *from)
{
    static const char jdk[] = "jfr";
    static const char perf[] = "perf";
    if (from->producer == JFR_PRODUCER_JDK)
        return (jfr_str){jdk, strlen(jdk)};
    jfr_str engine = from->engine.len > 0 ? from->engine : from->event;
    if (engine.len == strlen("perf_events") && memcmp(engine.data, "perf_events", engine.len) == 0)
        return (jfr_str){perf, strlen(perf)};
    return engine;
}

/* Keeps a text that all inputs have in common, or "(the inputs differ)". */
static void copy_common(char *to, size_t room, jfr_str from)
{
    static const char differs[] = "(the inputs differ)";
    char text[256];
    text[0] = '\0';
    copy_text(text, room < sizeof(text) ? room : sizeof(text), from);
    if (text[0] == '\0' || strcmp(to, text) == 0)
        return;
    (void)strcpy(to, to[0] == '\0' ? text : differs);
}

void recording__take_settings(recording *rec, const jfr_chunk *chunk)
{
    recording_info *info = &rec->info;
    const jfr_recording_info *from = jfr_chunk_recording(chunk);
    copy_text(info->engine, sizeof(info->engine), engine_of(from));
    copy_text(info->profiler, sizeof(info->profiler), from->profiler_version);
    copy_common(info->jvm_version, sizeof(info->jvm_version), from->jvm_version);
    copy_common(info->java_args, sizeof(info->java_args), from->java_args);
    jfr_intervals intervals = JFR_INTERVALS_INIT;
    if (jfr_chunk_intervals(chunk, &intervals, NULL) != 0)
        return;
    info->intervals = intervals;
    info->interval[PROFILE_TYPE_CPU] = intervals.cpu_ns;
    info->interval[PROFILE_TYPE_WALL] = intervals.wall_ns;
    info->interval[PROFILE_TYPE_ALLOC_BYTES] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_ALLOC_OBJECTS] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_LIVE_BYTES] = intervals.alloc_bytes;
    info->interval[PROFILE_TYPE_LOCK_COUNT] = intervals.lock_ns;
    info->interval[PROFILE_TYPE_LOCK_DELAY] = intervals.lock_ns;
    info->interval[PROFILE_TYPE_NATIVEMEM_BYTES] = intervals.nativemem_bytes;
    info->interval[PROFILE_TYPE_EVENTS] = intervals.events;
    if (intervals.main_event == JFR_MAIN_COUNTER)
        copy_common(info->event, sizeof(info->event), from->event);
}

void recording__take_counts(recording_counts *to, const jfr_chunk *chunk)
{
    jfr_chunk_stats from;
    jfr_chunk_get_stats(chunk, &from);
    to->events += from.events;
    to->samples += from.samples;
    to->bad_events += from.bad_events;
    to->native_samples += from.native_samples;
    to->failed_samples += from.failed_samples;
    to->stackless_samples += from.stackless_samples;
    if (!jfr_chunk_get_info(chunk)->finished)
        to->unfinished_stackless += from.stackless_samples;
    to->undefined_pools += from.undefined_pools;
    for (int source = 0; source < JFR_SOURCE_COUNT; source++) {
        to->idle_waits[source] += from.idle_waits[source];
        to->rivals[source] += from.rival_events[source];
        to->rival_events += from.rival_events[source];
        to->unmeasured[source] += from.unmeasured_events[source];
        to->unmeasured_events += from.unmeasured_events[source];
    }
}

/* An unfinished chunk has no duration; it lasted at least until its last sample. */
void recording__take_time(recording *rec, const jfr_chunk *chunk, int64_t last_ns)
{
    const jfr_chunk_info *from = jfr_chunk_get_info(chunk);
    int64_t end_ns;
    if (__builtin_add_overflow(from->start_ns, from->duration_ns, &end_ns))
        end_ns = INT64_MAX;
    if (!from->finished && last_ns > end_ns)
        end_ns = last_ns;
    recording__add_span(rec, from->start_ns, end_ns);
}

const char *recording_type_name(const sagg *agg, unsigned type)
{
    sagg_type row;
    for (size_t i = 0; sagg_type_at(agg, i, &row); i++)
        if (row.id == type)
            return row.name;
    return "";
}

int recording_name_events(recording *rec)
{
    char name[sizeof(rec->info.event)];
    size_t size = strlen(rec->info.event);
    memcpy(name, rec->info.event, size + 1);
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("-.:_", name[i]) == NULL)
            name[i] = '_';
    if (size == 0 || rec->info.event[0] == '(' || name[0] == '.' || profile_type_find(name) != NULL)
        return 0;
    return sagg_type_rename(rec->agg, PROFILE_TYPE_EVENTS, name, NULL) == 0 ? 0 : RECORDING_E_NOMEM;
}
