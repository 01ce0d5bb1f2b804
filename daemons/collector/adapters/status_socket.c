/* SPDX-License-Identifier: Apache-2.0 */
#include "status_socket.h"

#include <base/log.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <jansson.h>
#include <localrpc/server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct status_socket {
    localrpc_server *server;
    const shown_sources *sources;
    status_about about;
};

/* Makes a time as RFC 3339 in UTC; null for 0. */
static json_t *time_of(uint64_t unix_ms)
{
    char text[32] = "";
    struct tm parts;
    time_t seconds = (time_t)(unix_ms / 1000);
    if (unix_ms == 0 || gmtime_r(&seconds, &parts) == NULL)
        return json_null();
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Makes a string; a JVM's texts may hold any bytes. */
static json_t *text_of(const char *text)
{
    json_t *clean = json_string(text);
    return clean != NULL ? clean : json_string("?");
}

static json_t *findings_of(const local_finding *all, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(out,
                                    json_pack("{s:s, s:o, s:s}", "check", all[i].check, "message",
                                              text_of(all[i].message), "fix", all[i].fix));
    return out;
}

static json_t *lane_of(const lane_status *lane)
{
    return json_pack("{s:b, s:o}", "running", lane->running, "due_at", time_of(lane->due_ms));
}

static json_t *window_of(const target_status *target)
{
    if (target->last_length_ms == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "started_at", time_of(target->last_window_ms), "length_ms",
                     number(target->last_length_ms), "covered_ms", number(target->last_covered_ms));
}

static json_t *target_of(const target_status *target)
{
    const reason_info *reason = reason_get(target->reason);
    bool has_reason = reason != NULL && target->reason != REASON_NONE;
    json_t *out = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "pid", number(target->jvm.id.host_pid), "main_class",
        text_of(target->jvm.main_class), "namespace", text_of(target->labels.namespace_name),
        "workload", text_of(target->labels.workload), "pod", text_of(target->labels.pod),
        "container", text_of(target->labels.container));
    json_t *state = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:o, s:s}", "mode", target_mode_name(target->mode), "until",
        time_of(target->until_ms), "state", target_state_name(target->state), "reason",
        has_reason ? reason->name : "none", "fix", has_reason ? reason->fix : "", "detail",
        text_of(target->detail), "session", session_state_name(target->session));
    json_t *work =
        json_pack("{s:o, s:o, s:o}", "session_lane", lane_of(&target->session_lane),
                  "snapshot_lane", lane_of(&target->snapshot_lane), "window", window_of(target));
    (void)json_object_update(out, state);
    (void)json_object_update(out, work);
    json_decref(state);
    json_decref(work);
    return out;
}

static json_t *targets_of(const status_report *report)
{
    json_t *all = json_array();
    for (size_t i = 0; i < report->count; i++)
        (void)json_array_append_new(all, target_of(&report->targets[i]));
    return all;
}

static json_t *queue_of(const queue_stats *queued)
{
    json_t *dropped = json_object();
    for (unsigned cause = DROP_NONE + 1; cause < DROP_END; cause++)
        (void)json_object_set_new(dropped, drop_cause_get(cause)->name,
                                  number(queued->drops[cause].entries));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "batches", number(queued->entries), "bytes",
                     number(queued->bytes), "max_bytes", number(queued->max_bytes), "oldest_at",
                     time_of(queued->oldest_ms), "dropped", dropped);
}

static json_t *backend_of(const uploader_stats *uploads, const char *url)
{
    return json_pack("{s:s, s:b, s:b, s:o, s:o, s:o}", "url", url, "reachable", uploads->reachable,
                     "blocked", uploads->blocked, "last_success_at",
                     time_of(uploads->last_success_ms), "failed_calls",
                     number(uploads->failed_calls), "last_error", text_of(uploads->last_error));
}

static json_t *work_of(const collector_stats *core)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lanes_running",
                     number(core->lanes_running), "lanes_waiting", number(core->lanes_waiting),
                     "windows", number(core->windows), "windows_lost", number(core->windows_lost),
                     "window_ms", number(core->window_ms), "covered_ms", number(core->covered_ms),
                     "dropped_events", number(core->dropped_events));
}

char *status_document(const shown_sources *sources, const status_about *about, size_t *length)
{
    status_report report;
    collector_snapshot(sources->core, &report);
    collector_stats core = collector_get_stats(sources->core);
    uploader_stats uploads = uploader_get_stats(sources->uploads);
    queue_stats queued = queue_get_stats(sources->queued);
    json_t *self =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:s, s:o}", "version", about->version, "cluster",
                  about->cluster, "node", about->node, "instance", about->instance, "pid",
                  (int)getpid(), "started_at", time_of(about->started_ms), "engine", report.engine,
                  "lacks", findings_of(about->lacks, about->lack_count));
    json_t *attachd =
        json_pack("{s:b, s:o, s:o, s:o}", "reachable", core.attachd_reachable, "detail",
                  text_of(report.attachd), "lacks", findings_of(report.lacks, report.lack_count),
                  "workers_unreaped", number(core.workers_unreaped));
    json_t *all =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "collector", self, "attachd", attachd,
                  "backend", backend_of(&uploads, about->backend_url), "queue", queue_of(&queued),
                  "work", work_of(&core), "targets", targets_of(&report));
    status_report_clear(&report);
    char *text = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    *length = text != NULL ? strlen(text) : 0;
    return text;
}

static void answer(void *context, const local_request *request, local_answer *out)
{
    const status_socket *self = context;
    if (request->op != LOCAL_STATUS) {
        out->reason = REASON_PROTOCOL_MISMATCH;
        (void)snprintf(out->detail, sizeof(out->detail),
                       "this is hotstack-collector, which answers for its status alone");
        return;
    }
    out->data = (uint8_t *)status_document(self->sources, &self->about, &out->length);
    if (out->data != NULL && out->length <= LOCAL_STATUS_MAX)
        return;
    out->length = 0;
    out->reason = REASON_INTERNAL;
    (void)snprintf(out->detail, sizeof(out->detail), "the status is too large, or memory ran out");
}

static void say(void *context, const char *message)
{
    (void)context;
    log_line("status: %s", message);
}

int status_socket_start(status_socket **out, const char *path, const shown_sources *sources,
                        const status_about *about, char *message, size_t size)
{
    const uint32_t uids[] = {0, geteuid()};
    *out = NULL;
    status_socket *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        (void)snprintf(message, size, "out of memory");
        return -1;
    }
    self->sources = sources;
    self->about = *about;
    localrpc_server_options options = LOCALRPC_SERVER_OPTIONS_INIT;
    options.socket_path = path;
    options.uids = uids;
    options.uid_count = sizeof(uids) / sizeof(uids[0]);
    options.workers = 1;
    options.remembered = 1;
    options.handler = answer;
    options.context = self;
    options.log = say;
    localrpc_error err = {0};
    if (localrpc_server_start(&self->server, &options, &err) == 0) {
        *out = self;
        return 0;
    }
    (void)snprintf(message, size, "%s", err.message);
    free(self);
    return -1;
}

void status_socket_stop(status_socket *self)
{
    if (self == NULL)
        return;
    localrpc_server_stop(self->server);
    free(self);
}
