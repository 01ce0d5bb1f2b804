/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack collector status`: the state of this host's collector and of its JVMs. */
#include <localrpc/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/jvm_find.h"
#include "cli/commands/jvm_json.h"
#include "cli/options/options.h"

#define WAIT_MS 5000

static const char *text_at(const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    return text != NULL ? text : "";
}

static long long number_at(const json_t *from, const char *key)
{
    return json_integer_value(json_object_get(from, key));
}

static bool is_true(const json_t *from, const char *key)
{
    return json_is_true(json_object_get(from, key));
}

/* Prints the findings of a self-check, below the line of its program. */
static void show_lacks(const json_t *program)
{
    const json_t *lacks = json_object_get(program, "lacks");
    for (size_t i = 0; i < json_array_size(lacks); i++) {
        const json_t *one = json_array_get(lacks, i);
        (void)printf("           %s: %s\n             fix: %s\n", text_at(one, "check"),
                     text_at(one, "message"), text_at(one, "fix"));
    }
}

static void show_peers(const json_t *all)
{
    const json_t *attachd = json_object_get(all, "attachd");
    const json_t *backend = json_object_get(all, "backend");
    (void)printf("attachd    %s%s%s\n", is_true(attachd, "reachable") ? "reachable" : "unreachable",
                 text_at(attachd, "detail")[0] != '\0' ? ": " : "", text_at(attachd, "detail"));
    show_lacks(attachd);
    const char *last = text_at(backend, "last_success_at");
    (void)printf("backend    %s: %s, last batch accepted %s\n", text_at(backend, "url"),
                 is_true(backend, "blocked")     ? "refuses the token"
                 : is_true(backend, "reachable") ? "reachable"
                                                 : "unreachable",
                 last[0] != '\0' ? last : "never");
    if (!is_true(backend, "reachable") && text_at(backend, "last_error")[0] != '\0')
        (void)printf("           %s\n", text_at(backend, "last_error"));
}

static void show_work(const json_t *all)
{
    const json_t *queued = json_object_get(all, "queue");
    const json_t *work = json_object_get(all, "work");
    const json_t *count;
    const char *cause;
    const char *oldest = text_at(queued, "oldest_at");
    (void)printf("queue      %lld batches, %lld of %lld bytes%s%s\n", number_at(queued, "batches"),
                 number_at(queued, "bytes"), number_at(queued, "max_bytes"),
                 oldest[0] != '\0' ? ", oldest of " : "", oldest);
    json_object_foreach(json_object_get(queued, "dropped"), cause, count)
    {
        if (json_integer_value(count) > 0)
            (void)printf("           %lld batches lost: %s\n", json_integer_value(count), cause);
    }
    long long window = number_at(work, "window_ms");
    double share = window > 0 ? 100.0 * (double)number_at(work, "covered_ms") / (double)window : 0;
    (void)printf("work       %lld lanes run, %lld wait; %lld windows, %.2f %% of their time "
                 "recorded, %lld lost\n",
                 number_at(work, "lanes_running"), number_at(work, "lanes_waiting"),
                 number_at(work, "windows"), share, number_at(work, "windows_lost"));
}

/* Returns the word for the state of a lane. */
static const char *lane_word(const json_t *target, const char *key)
{
    const json_t *lane = json_object_get(target, key);
    return is_true(lane, "running")                        ? "runs"
           : json_is_null(json_object_get(lane, "due_at")) ? "-"
                                                           : "waits";
}

static void show_target(const json_t *target)
{
    char name[64], window[64] = "-";
    const json_t *last = json_object_get(target, "window");
    const char *reason = text_at(target, "reason");
    jvm_short_name(name, sizeof(name), text_at(target, "main_class"));
    if (json_is_object(last))
        (void)snprintf(window, sizeof(window), "%s %.1f %%", text_at(last, "started_at"),
                       100.0 * (double)number_at(last, "covered_ms") /
                           (double)number_at(last, "length_ms"));
    (void)printf("%7lld  %-20s  %-10s  %-11s  %-8s  %-5s  %-5s  %-28s  %s\n",
                 number_at(target, "pid"), name[0] == '\0' ? "?" : name, text_at(target, "mode"),
                 text_at(target, "state"), text_at(target, "session"),
                 lane_word(target, "session_lane"), lane_word(target, "snapshot_lane"), window,
                 strcmp(reason, "none") == 0 ? "-" : reason);
    const char *detail = text_at(target, "detail");
    if (strcmp(reason, "none") != 0 && detail[0] != '\0')
        (void)printf("         %s\n", detail);
}

static void show(const json_t *all)
{
    const json_t *self = json_object_get(all, "collector");
    const json_t *targets = json_object_get(all, "targets");
    (void)printf("collector  %s of %s, version %s, pid %lld, since %s\n", text_at(self, "instance"),
                 text_at(self, "cluster"), text_at(self, "version"), number_at(self, "pid"),
                 text_at(self, "started_at"));
    show_lacks(self);
    show_peers(all);
    show_work(all);
    (void)printf("\n%7s  %-20s  %-10s  %-11s  %-8s  %-5s  %-5s  %-28s  %s\n", "PID", "MAIN", "MODE",
                 "STATE", "SESSION", "LANE", "SNAP", "LAST WINDOW", "REASON");
    for (size_t i = 0; i < json_array_size(targets); i++)
        show_target(json_array_get(targets, i));
}

/* Returns the collector's document, or NULL after a complaint. */
static json_t *ask(const char *path)
{
    localrpc_client *client = NULL;
    localrpc_error err = {0};
    local_request request = {.op = LOCAL_STATUS, .deadline_ms = WAIT_MS};
    local_answer answer = {0};
    json_t *all = NULL;
    json_error_t where;
    int rc = localrpc_client_open(&client, path, LOCALRPC_COLLECTOR, &err);
    localrpc_new_id(request.id);
    if (rc == 0)
        rc = localrpc_client_call(client, &request, &answer, &err);
    if (rc == 0 && answer.reason == 0)
        all = json_loadb((const char *)answer.data, answer.length, 0, &where);
    if (rc != 0)
        complain("%s", err.message);
    else if (all == NULL)
        complain("no status from %s: %s", path, answer.reason != 0 ? answer.detail : where.text);
    local_answer_clear(&answer);
    localrpc_client_close(client);
    return all;
}

static int collector_status_run(cli_options *o)
{
    json_t *all = ask(o->socket);
    if (all == NULL)
        return EXIT_UNREADABLE;
    if (o->json)
        return json_print(all) ? EXIT_WHOLE : EXIT_UNREADABLE;
    show(all);
    json_decref(all);
    return EXIT_WHOLE;
}

const command collector_status_command = {
    .name = "collector status",
    .summary = "Say what the collector of this host does, and with which JVMs",
    .usage = "[--json] [--socket PATH]",
    .about = "Says whether the collector of this host reaches hotstack-attachd and the backend, "
             "what waits in its queue, and for each JVM the state, the reason for missing data, "
             "the last window, and whether its two lanes (session and thread snapshots) "
             "work. Only root and the collector's own user may ask.",
    .ending = "Exit codes: 0 done; 1 the collector does not answer; 2 wrong usage.",
    .bit = OF_COLLECTOR_STATUS,
    .operands = OPERANDS_NONE,
    .run = collector_status_run,
};
