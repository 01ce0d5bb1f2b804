/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack doctor`: which parts of profiling would work on a JVM, which would not, why, and how to
 * fix them. */
#include <stdio.h>
#include <string.h>

#include "cli/commands/doctor_checks.h"
#include "cli/commands/jvm_find.h"
#include "cli/commands/jvm_json.h"
#include "cli/options/options.h"

static const char *status_name(doctor_status status)
{
    static const char *const names[] = {"ok", "note", "fail"};
    return names[status];
}

static const char *recorder_word(const doctor_report *r)
{
    return r->recorder == ATTACH_AP_RECORDER_AUTO ? "none" : attach_ap_recorder_name(r->recorder);
}

static void print_check(const doctor_report *r, const doctor_check *check)
{
    char line[64];
    (void)printf("  %-4s  %-10s  %s\n", status_name(check->status), check->name, check->detail);
    if (check->reason == ATTACH_REASON_NONE)
        return;
    const char *name = attach_reason_name(check->reason);
    const char *paste = doctor_paste(line, sizeof(line), r, check->reason);
    (void)printf("                    reason: %s\n", name);
    if (fix_of(name)[0] != '\0')
        (void)printf("                    fix: %s\n", fix_of(name));
    if (paste[0] != '\0')
        (void)printf("                    paste: %s\n", paste);
}

static void print_verdict(const doctor_report *r)
{
    const char *name = attach_reason_name(r->reason);
    switch (r->recorder) {
    case ATTACH_AP_RECORDER_ASYNC_PROFILER:
        (void)printf("verdict: can be profiled with async-profiler: hotstack profile -f flame.html "
                     "%d\n",
                     r->jvm.identity.pid);
        break;
    case ATTACH_AP_RECORDER_JFR:
        (void)printf("verdict: can be profiled with the JDK's own recorder only (%s): hotstack "
                     "profile -f flame.html %d\n",
                     name, r->jvm.identity.pid);
        break;
    case ATTACH_AP_RECORDER_AUTO:
        (void)printf("verdict: cannot be profiled (%s)\n", name);
        break;
    }
}

static int print_text(const doctor_report *r)
{
    (void)printf("%d %s\n", r->jvm.identity.pid,
                 r->jvm.main_class[0] == '\0' ? "?" : r->jvm.main_class);
    for (size_t i = 0; i < r->n; i++)
        print_check(r, &r->checks[i]);
    print_verdict(r);
    return fflush(stdout) == 0;
}

static json_t *checks_json(const doctor_report *r)
{
    json_t *out = json_array();
    for (size_t i = 0; out != NULL && i < r->n; i++) {
        const doctor_check *check = &r->checks[i];
        char line[64];
        bool bad = check->reason != ATTACH_REASON_NONE;
        const char *name = bad ? attach_reason_name(check->reason) : "none";
        (void)json_array_append_new(
            out, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", check->name, "status",
                           status_name(check->status), "reason", name, "detail", check->detail,
                           "fix", bad ? fix_of(name) : "", "paste",
                           bad ? doctor_paste(line, sizeof(line), r, check->reason) : ""));
    }
    return out;
}

static json_t *places_json(const doctor_report *r)
{
    json_t *out = json_array();
    for (size_t i = 0; out != NULL && i < r->seen.n_places; i++) {
        const attach_place_view *place = &r->seen.places[i];
        (void)json_array_append_new(out,
                                    json_pack("{s:s, s:s, s:s}", "path", place->path, "library",
                                              place->library, "recording", place->recording));
    }
    return out;
}

static bool print_json(const doctor_report *r)
{
    const char *name = attach_reason_name(r->reason);
    json_t *verdict =
        json_pack("{s:b, s:s, s:s, s:s}", "ok", r->recorder != ATTACH_AP_RECORDER_AUTO, "recorder",
                  recorder_word(r), "reason", name, "fix",
                  r->reason == ATTACH_REASON_NONE ? "" : fix_of(name));
    return json_print(json_pack("{s:o, s:o, s:o, s:o}", "jvm", jvm_json(&r->jvm), "checks",
                                checks_json(r), "places", places_json(r), "verdict", verdict));
}

static int doctor_run(cli_options *o)
{
    static doctor_report report;
    if (!jvm_find(&report.jvm, o->operands[0]))
        return EXIT_UNREADABLE;
    doctor_examine(&report);
    bool shown = o->json ? print_json(&report) : print_text(&report);
    return shown && report.recorder != ATTACH_AP_RECORDER_AUTO ? EXIT_WHOLE : EXIT_UNREADABLE;
}

const command doctor_command = {
    .name = "doctor",
    .summary = "Say whether and how a JVM can be profiled, and what to do if not",
    .usage = "[--json] PID|NAME",
    .about = "Says whether and how a JVM can be profiled, what prevents it, and what to do about "
             "it. Reads procfs, and looks at file systems with the rights of the JVM's own user; "
             "attaches to nothing, changes nothing, needs no network.",
    .ending =
        "Exit codes: 0 it can be profiled; 1 it cannot, or there is no such JVM; 2 wrong usage.",
    .bit = OF_DOCTOR,
    .operands = OPERANDS_JVM,
    .run = doctor_run,
};
