/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "sandbox.h"

#include <base/utf8.h>
#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void family(FILE *to, const char *name, const char *kind, const char *help)
{
    (void)fprintf(to, "# HELP hotstack_collector_%s %s\n# TYPE hotstack_collector_%s %s\n", name,
                  help, name, kind);
}

static void metric(FILE *to, const char *name, const char *kind, const char *help, uint64_t value)
{
    family(to, name, kind, help);
    (void)fprintf(to, "hotstack_collector_%s %llu\n", name, (unsigned long long)value);
}

/* Writes a label's value with the format's escapes, and '?' for bytes that are not text. */
static void put_text(FILE *to, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        size_t n = utf8_sequence((const unsigned char *)text, left);
        if (n == 0)
            (void)fputc('?', to);
        else if (*text == '"' || *text == '\\')
            (void)fprintf(to, "\\%c", *text);
        else if (*text == '\n')
            (void)fputs("\\n", to);
        else
            (void)fwrite(text, 1, n, to);
        text += n > 0 ? n : 1;
        left -= n > 0 ? n : 1;
    }
}

/* The counters of all workloads, and the node's name. */
typedef struct workload_table {
    FILE *to;
    const char *node;
    const workload_stats *all; /* the first counts all workloads that have no row of their own */
    size_t count;
} workload_table;

/* Writes a sample up to its value; reason NULL = it has no such label. */
static void put_series(const workload_table *from, const char *name, size_t index,
                       const char *reason)
{
    const workload_stats *of = &from->all[index];
    (void)fprintf(from->to, "hotstack_collector_%s{namespace=\"", name);
    put_text(from->to, of->namespace_name);
    (void)fputs("\",workload=\"", from->to);
    put_text(from->to, index == 0 ? "[other]" : of->workload);
    (void)fputs("\",node=\"", from->to);
    put_text(from->to, from->node);
    if (reason != NULL)
        (void)fprintf(from->to, "\",reason=\"%s", reason);
    (void)fputs("\"} ", from->to);
}

/* Writes a number of each workload, `offset` bytes into its counters. */
static void by_workload(const workload_table *from, const char *name, const char *kind,
                        const char *help, size_t offset)
{
    family(from->to, name, kind, help);
    for (size_t i = 0; i < from->count; i++) {
        put_series(from, name, i, NULL);
        (void)fprintf(
            from->to, "%llu\n",
            (unsigned long long)*(const uint64_t *)((const char *)&from->all[i] + offset));
    }
}

static void seconds_by_workload(const workload_table *from, const char *name, const char *help,
                                size_t offset)
{
    family(from->to, name, "counter", help);
    for (size_t i = 0; i < from->count; i++) {
        uint64_t ms = *(const uint64_t *)((const char *)&from->all[i] + offset);
        put_series(from, name, i, NULL);
        (void)fprintf(from->to, "%llu.%03llu\n", (unsigned long long)ms / 1000,
                      (unsigned long long)ms % 1000);
    }
}

/* Writes the numbers by reason of each workload, `offset` bytes into its counters, without those
 * that are 0. */
static void by_reason(const workload_table *from, const char *name, const char *kind,
                      const char *help, size_t offset)
{
    family(from->to, name, kind, help);
    for (size_t i = 0; i < from->count; i++) {
        const uint64_t *counts = (const uint64_t *)((const char *)&from->all[i] + offset);
        for (unsigned reason = 0; reason < REASON_END; reason++) {
            if (counts[reason] == 0)
                continue;
            put_series(from, name, i, reason_get(reason)->name);
            (void)fprintf(from->to, "%llu\n", (unsigned long long)counts[reason]);
        }
    }
}

static void write_workloads(const workload_table *from)
{
    by_workload(from, "jvms_discovered", "gauge", "JVMs seen on this host.",
                offsetof(workload_stats, jvms));
    by_workload(from, "jvms_eligible", "gauge",
                "JVMs that a rule, an annotation or a call asks for, and that are supported.",
                offsetof(workload_stats, eligible));
    by_workload(from, "jvms_active", "gauge", "JVMs with a session that gives windows.",
                offsetof(workload_stats, active));
    by_reason(from, "jvms_skipped", "gauge", "JVMs without a session and why, the reason's name.",
              offsetof(workload_stats, skipped));
    by_reason(from, "attach_failures_total", "counter",
              "Operations on JVMs that failed before they reached the profiler.",
              offsetof(workload_stats, attach_failures));
    by_reason(from, "profiler_command_failures_total", "counter",
              "Commands that the profiler in the JVM refused, or failed at.",
              offsetof(workload_stats, command_failures));
    by_workload(from, "windows_total", "counter", "Windows read.",
                offsetof(workload_stats, windows));
    by_workload(from, "parse_failures_total", "counter", "Recordings that could not be read.",
                offsetof(workload_stats, parse_failures));
    seconds_by_workload(from, "window_seconds_total", "Nominal length of all windows.",
                        offsetof(workload_stats, window_ms));
    seconds_by_workload(from, "covered_seconds_total", "Time of those windows that was recorded.",
                        offsetof(workload_stats, covered_ms));
    by_workload(from, "snapshots_total", "counter", "Thread snapshots asked for.",
                offsetof(workload_stats, snapshots));
    by_reason(from, "snapshot_failures_total", "counter", "Thread snapshots that failed.",
              offsetof(workload_stats, snapshot_failures));
    by_workload(from, "snapshot_timeouts_total", "counter",
                "Thread snapshots that the JVM did not answer in time.",
                offsetof(workload_stats, snapshot_failures[REASON_ATTACH_TIMEOUT]));
    metric(from->to, "workload_series", "gauge", "Workloads that metrics tell apart.",
           from->count > 0 ? from->count - 1 : 0);
    metric(from->to, "jvms_without_workload_series", "gauge",
           "JVMs past limits.workload_series, summed as the workload [other].",
           from->count > 0 ? from->all[0].jvms : 0);
}

static void typed(FILE *to, const char *name, const char *help, const profile_sum *sums)
{
    family(to, name, "counter", help);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        (void)fprintf(to, "hotstack_collector_%s{type=\"%s\"} %llu\n", name,
                      profile_type_get(type)->name,
                      (unsigned long long)profile_sum_raw(sums, type));
}

static void drops(FILE *to, const queue_stats *queued)
{
    family(to, "queue_dropped_total", "counter", "Batches lost, by cause.");
    for (unsigned cause = 1; cause < DROP_END; cause++)
        (void)fprintf(to, "hotstack_collector_queue_dropped_total{cause=\"%s\"} %llu\n",
                      drop_cause_get(cause)->name,
                      (unsigned long long)queued->drops[cause].entries);
    family(to, "queue_oldest_dropped_timestamp_seconds", "gauge",
           "When the oldest batch that was lost had been cut, by cause; 0: none was lost.");
    for (unsigned cause = 1; cause < DROP_END; cause++)
        (void)fprintf(
            to, "hotstack_collector_queue_oldest_dropped_timestamp_seconds{cause=\"%s\"} %llu\n",
            drop_cause_get(cause)->name, (unsigned long long)queued->drops[cause].first_ms / 1000);
}

static void outcomes(FILE *to, const uploader_stats *stats)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"accepted", stats->accepted},       {"duplicate", stats->duplicate},
        {"rejected", stats->rejected},       {"retry", stats->retried},
        {"need_stacks", stats->need_stacks}, {"split", stats->split},
    };
    family(to, "batch_answers_total", "counter", "Answers to batches.");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        (void)fprintf(to, "hotstack_collector_batch_answers_total{outcome=\"%s\"} %llu\n",
                      rows[i].name, (unsigned long long)rows[i].value);
}

static void write_kubernetes(FILE *to, const kubernetes *from, uint64_t unknown)
{
    pods_stats stats = pods_get_stats(kubernetes_pods(from));
    watch_stats of_pods = kubernetes_watch_stats(from, POD_KIND_POD);
    watch_stats of_spaces = kubernetes_watch_stats(from, POD_KIND_NAMESPACE);
    metric(to, "pods", "gauge", "Pods of this node that are known.", stats.pods);
    metric(to, "namespaces_with_settings", "gauge", "Namespaces with hotstack.dev settings.",
           stats.namespaces);
    metric(to, "jvms_in_unknown_pods", "gauge", "JVMs whose pod is not known, left alone.",
           unknown);
    metric(to, "kubernetes_reachable", "gauge", "1 when the API server answered last.",
           !stats.has_trouble[POD_KIND_POD] && !stats.has_trouble[POD_KIND_NAMESPACE]);
    metric(to, "kubernetes_objects_refused_total", "counter",
           "Pods and namespaces past limits.pods or limits.namespaces.", stats.refused);
    metric(to, "kubernetes_lists_total", "counter", "Whole lists read.",
           of_pods.lists + of_spaces.lists);
    metric(to, "kubernetes_watches_total", "counter", "Watches begun.",
           of_pods.watches + of_spaces.watches);
    metric(to, "kubernetes_events_total", "counter", "Events of watches.",
           of_pods.events + of_spaces.events);
    metric(to, "kubernetes_failures_total", "counter", "Lists and watches that failed.",
           of_pods.failures + of_spaces.failures);
    metric(to, "kubernetes_versions_gone_total", "counter",
           "Versions that the API server no longer had, so that all was listed again.",
           of_pods.gone + of_spaces.gone);
}

static void write_metrics(FILE *to, const shown_sources *from)
{
    collector_stats core = collector_get_stats(from->core);
    uploader_stats uploads = uploader_get_stats(from->uploads);
    queue_stats queued = queue_get_stats(from->queued);
    size_t count = 0;
    workload_stats *workloads = collector_get_workloads(from->core, &count);
    const workload_table table = {to, from->node, workloads, count};
    family(to, "build_info", "gauge", "1; the labels tell the version and the node.");
    (void)fprintf(to, "hotstack_collector_build_info{version=\"" HOTSTACK_VERSION "\",node=\"");
    put_text(to, from->node);
    (void)fputs("\"} 1\n", to);
    write_workloads(&table);
    free(workloads);
    metric(to, "attachd_reachable", "gauge", "1 when attachd answered last.",
           core.attachd_reachable);
    metric(to, "attachd_lacks", "gauge",
           "Findings of attachd's self-check, as missing capabilities; the log has them.",
           core.attachd_lacks);
    metric(to, "attach_workers_unreaped", "gauge",
           "Attach workers that attachd killed and that have not ended; no more than 16 may be.",
           core.workers_unreaped);
    metric(to, "lanes_running", "gauge",
           "Sessions and thread snapshots that are worked on now, each on a thread of its own.",
           core.lanes_running);
    metric(to, "lanes_waiting", "gauge",
           "Sessions and thread snapshots that are due and wait, for limits.lanes or a thread.",
           core.lanes_waiting);
    metric(to, "thread_failures_total", "counter", "Jobs put off for want of a thread.",
           core.thread_failures);
    metric(to, "discoveries_total", "counter", "Looks at the host.", core.discoveries);
    metric(to, "discovery_failures_total", "counter", "Looks at the host that failed.",
           core.discovery_failures);
    metric(to, "session_starts_total", "counter", "Sessions asked for.", core.starts);
    metric(to, "session_start_failures_total", "counter", "Sessions that could not be started.",
           core.start_failures);
    metric(to, "windows_lost_total", "counter",
           "Windows of which nothing was recorded, sent with the reason.", core.windows_lost);
    metric(to, "windows_failed_total", "counter", "Windows that attachd could not end.",
           core.windows_failed);
    metric(to, "snapshots_short_total", "counter",
           "Thread snapshots that list fewer threads than the JVM has.", core.snapshots_short);
    metric(to, "recording_bytes_total", "counter", "Bytes of recordings read.",
           core.recording_bytes);
    metric(to, "dropped_events_total", "counter", "Events that the profilers in JVMs dropped.",
           core.dropped_events);
    metric(to, "excess_events_total", "counter",
           "Events past limits.events of their window, summed as [dropped].", core.excess_events);
    metric(to, "batches_total", "counter", "Batches put into the queue.", core.batches);
    metric(to, "queue_failures_total", "counter", "Batches that could not be written, lost.",
           core.queue_failures);
    metric(to, "queue_bytes", "gauge", "Bytes that wait for the backend.", queued.bytes);
    metric(to, "queue_batches", "gauge", "Batches that wait for the backend.", queued.entries);
    metric(to, "queue_oldest_timestamp_seconds", "gauge",
           "When the oldest batch that waits was cut; 0: none waits.", queued.oldest_ms / 1000);
    drops(to, &queued);
    metric(to, "refused_system_calls_total", "counter",
           "System calls that the collector's own seccomp filter refused; the log names them.",
           sandbox_refusals());
    outcomes(to, &uploads);
    metric(to, "upload_failures_total", "counter", "Calls without a good answer.",
           uploads.failed_calls);
    metric(to, "flush_interval_seconds", "gauge",
           "Time in which one batch is cut, as the backend said last; 0: it has not.",
           uploads.flush_interval_ms / 1000);
    metric(to, "last_success_timestamp_seconds", "gauge",
           "When the backend took a batch last; 0: not since the start.",
           uploads.last_success_ms / 1000);
    metric(to, "upload_blocked", "gauge", "1 while the backend refuses the token.",
           uploads.blocked);
    metric(to, "upload_bytes_total", "counter", "Bytes of bodies sent, compressed.",
           transport_sent_bytes(from->http));
    metric(to, "rows_sent_total", "counter", "Sample rows that the backend acknowledged.",
           uploads.rows);
    typed(to, "raw_recorded_total", "Amounts recorded, in the type's unit, before estimates.",
          core.recorded);
    typed(to, "raw_sent_total", "Amounts that the backend acknowledged, in the type's unit.",
          uploads.sent);
    if (from->kubernetes != NULL)
        write_kubernetes(to, from->kubernetes, core.unknown_pods);
}

char *metrics_page(const shown_sources *sources, size_t *length)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (to == NULL)
        return NULL;
    write_metrics(to, sources);
    (void)fclose(to);
    return text;
}
