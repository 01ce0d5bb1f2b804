/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack attach status`: whose profiling session runs in which JVM. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/attach_call.h"
#include "cli/commands/jvm_find.h"
#include "cli/commands/jvm_json.h"
#include "cli/options/options.h"

/* For a list: one JVM that does not answer must not delay the others' rows for long. */
#define LIST_MS      15000
#define SIDE_BY_SIDE 16

typedef struct row {
    const attach_jvm *jvm;
    attach_result result;
    attach_error err;
    bool failed;
} row;

/* timeout_ms: 0 = as long as one JVM may take. */
static void ask(row *out, const attach_jvm *jvm, uint32_t timeout_ms)
{
    memset(out, 0, sizeof(*out));
    out->jvm = jvm;
    bool unreachable = jvm->reason == ATTACH_REASON_NOT_HOTSPOT ||
                       jvm->reason == ATTACH_REASON_PERMISSION_DENIED ||
                       jvm->reason == ATTACH_REASON_TARGET_STOPPED;
    if (unreachable) {
        out->failed = true;
        out->err.reason = jvm->reason;
        (void)snprintf(out->err.message, sizeof(out->err.message), "%s", jvm->detail);
        return;
    }
    attach_request *request = malloc(sizeof(*request)); /* too large for a thread's stack */
    out->failed = request == NULL || !attach_call_prepare(request, jvm, ATTACH_OP_STATUS);
    if (!out->failed && timeout_ms > 0)
        request->timeout_ms = timeout_ms;
    if (!out->failed)
        out->failed =
            attachclient_run(&out->result, request, NULL, NULL, NULL, &out->err) != ATTACH_OK;
    free(request);
}

/* Returns the word for a session. "owned" is not shown, as it would not say whether Hotstack or
 * another program owns the session. */
static const char *session_word(const row *r)
{
    const attach_ap_info *info = &r->result.info;
    if (r->failed)
        return "unknown";
    if (!info->running)
        return info->state == ATTACH_AP_EXTERNAL ? "external" : "none";
    return info->installation[0] != '\0'       ? "hotstack"
           : info->state == ATTACH_AP_EXTERNAL ? "external"
                                               : "unknown";
}

static void describe(char *out, size_t cap, const row *r)
{
    const attach_ap_info *info = &r->result.info;
    char until[32];
    if (r->failed) {
        (void)snprintf(out, cap, "%s", r->err.message);
        return;
    }
    if (!info->running) {
        const char *idle = info->profiler[0] == '\0' ? "" : "is loaded, no session";
        (void)snprintf(out, cap, "%s%s%s", info->profiler, idle[0] == '\0' ? "" : " ", idle);
        return;
    }
    if (info->installation[0] == '\0') {
        (void)snprintf(out, cap, "%s: %s", info->profiler, info->profiler_library);
        return;
    }
    format_time(until, info->until_ms);
    (void)snprintf(out, cap, "%s, engine %s%s%s, installation %s",
                   info->owner[0] == '\0' ? "a Hotstack program" : info->owner,
                   attach_ap_engine_name(info->engine), info->until_ms == 0 ? "" : ", until ",
                   info->until_ms == 0 ? "" : until, info->installation);
}

static json_t *row_json(const row *r)
{
    const attach_ap_info *info = &r->result.info;
    return json_pack(
        "{s:i, s:s, s:s, s:b, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "pid",
        r->jvm->identity.pid, "main_class", r->jvm->main_class, "session", session_word(r),
        "running", info->running, "engine",
        info->running ? attach_ap_engine_name(info->engine) : "", "engine_reason",
        info->engine_reason, "started_at", time_json(info->running ? info->started_ms : 0), "until",
        time_json(info->running ? info->until_ms : 0), "installation", info->installation, "owner",
        info->owner, "directory", info->directory, "profiler", info->profiler, "profiler_library",
        info->profiler_library, "not_recorded", info->absent_reason, "verdict",
        verdict_json(r->failed ? attach_reason_name(r->err.reason) : "none", r->err.message));
}

static bool show(const row *r, json_t *rows)
{
    char words[512], name[64];
    if (rows != NULL)
        return json_array_append_new(rows, row_json(r)) == 0;
    describe(words, sizeof(words), r);
    jvm_short_name(name, sizeof(name), r->jvm->main_class);
    return printf("%7d  %-24s  %-8s  %s\n", r->jvm->identity.pid, name[0] == '\0' ? "?" : name,
                  session_word(r), words) > 0;
}

/* A list of JVMs, several of which are asked at the same time. */
typedef struct survey {
    const attach_jvm_list *jvms;
    row *rows;
    size_t n;
    atomic_size_t next;
} survey;

static void *ask_some(void *ctx)
{
    survey *s = ctx;
    for (size_t i = atomic_fetch_add(&s->next, 1); i < s->n; i = atomic_fetch_add(&s->next, 1))
        ask(&s->rows[i], attach_jvm_list_at(s->jvms, i), LIST_MS);
    return NULL;
}

static bool ask_all(survey *s, const attach_jvm_list *jvms)
{
    pthread_t threads[SIDE_BY_SIDE];
    int started = 0;
    s->jvms = jvms;
    s->n = attach_jvm_list_count(jvms);
    s->rows = calloc(s->n + 1, sizeof(*s->rows));
    atomic_init(&s->next, 0);
    if (s->rows == NULL) {
        complain("not enough memory for the list");
        return false;
    }
    while (started < SIDE_BY_SIDE && (size_t)started + 1 < s->n &&
           pthread_create(&threads[started], NULL, ask_some, s) == 0)
        started++;
    (void)ask_some(s);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return true;
}

static int status_of_all(json_t *rows)
{
    survey all;
    attach_jvm_list *jvms = NULL;
    attach_error err = {0};
    if (attach_jvm_list_read(&jvms, NULL, &err) != ATTACH_OK) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    bool shown = ask_all(&all, jvms);
    if (shown && rows == NULL)
        (void)printf("%7s  %-24s  %-8s  %s\n", "PID", "MAIN", "SESSION", "WHOSE");
    for (size_t i = 0; i < all.n && shown; i++)
        shown = show(&all.rows[i], rows);
    free(all.rows);
    attach_jvm_list_free(jvms);
    return shown ? EXIT_WHOLE : EXIT_UNREADABLE;
}

static int status_of_one(const char *wanted, json_t *rows)
{
    static row r;
    static attach_jvm jvm; /* static, as r is and points to it */
    if (!jvm_find(&jvm, wanted))
        return EXIT_UNREADABLE;
    ask(&r, &jvm, 0);
    if (r.failed && rows == NULL) {
        attach_call_complain(&r.err);
        return EXIT_UNREADABLE;
    }
    return show(&r, rows) && !r.failed ? EXIT_WHOLE : EXIT_UNREADABLE;
}

static int status(const char *wanted, bool json)
{
    json_t *rows = json ? json_array() : NULL;
    if (json && rows == NULL)
        return EXIT_UNREADABLE;
    int rc = wanted == NULL ? status_of_all(rows) : status_of_one(wanted, rows);
    if (json && !json_print(json_pack("{s:o}", "jvms", rows)))
        rc = EXIT_UNREADABLE;
    return rc;
}

static int attach_status_run(cli_options *o)
{
    return status(o->operand_count > 0 ? o->operands[0] : NULL, o->json);
}

const command attach_status_command = {
    .name = "attach status",
    .summary = "Say whose profiling session runs in which JVM",
    .usage = "[--json] [PID|NAME]",
    .about =
        "Says for each JVM of this machine, or for one, whether a profiler is in it, whose session "
        "runs and until when. Loads nothing: a JVM without a profiler is not even attached to.",
    .ending = "Exit codes: 0 done; 1 the JVMs cannot be listed, or the one JVM cannot be asked; 2 "
              "wrong usage.",
    .bit = OF_ATTACH_STATUS,
    .operands = OPERANDS_JVM_OR_NONE,
    .run = attach_status_run,
};
