/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/jvm_json.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"

const char *fix_of(const char *reason)
{
    const reason_info *info = reason_find(reason);
    return info == NULL ? "" : info->fix;
}

void format_time(char out[32], int64_t unix_ms)
{
    struct tm parts;
    time_t seconds = (time_t)(unix_ms / 1000);
    out[0] = '\0';
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

json_t *time_json(int64_t unix_ms)
{
    char text[32];
    if (unix_ms == 0)
        return json_null();
    format_time(text, unix_ms);
    return json_string(text);
}

json_t *verdict_json(const char *reason, const char *detail)
{
    bool ok = strcmp(reason, "none") == 0;
    return json_pack("{s:b, s:s, s:s, s:s}", "ok", ok, "reason", reason, "detail", detail, "fix",
                     ok ? "" : fix_of(reason));
}

static const char *libc_name(attach_libc libc)
{
    return libc == ATTACH_LIBC_GLIBC ? "glibc" : libc == ATTACH_LIBC_MUSL ? "musl" : "unknown";
}

static json_t *limit_json(uint64_t limit)
{
    return limit == 0 ? json_null() : json_integer((json_int_t)limit);
}

json_t *jvm_json(const attach_jvm *jvm)
{
    json_t *flags = json_pack("{s:b, s:b, s:b}", "attach_disabled", jvm->attach_disabled,
                              "agent_loading_disabled", jvm->agent_loading_disabled,
                              "perf_data_off", jvm->perf_data_off);
    json_t *limits = json_pack("{s:o, s:o, s:o}", "memory_bytes", limit_json(jvm->memory_limit),
                               "memory_used_bytes", limit_json(jvm->memory_used), "cpu_millis",
                               limit_json(jvm->cpu_millis));
    json_t *out =
        json_pack("{s:i, s:i, s:I, s:I, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "pid",
                  jvm->identity.pid, "ns_pid", jvm->ns_pid, "uid", (json_int_t)jvm->uid, "gid",
                  (json_int_t)jvm->gid, "started_at", time_json(jvm->start_ms), "version",
                  jvm->version, "vendor", jvm->vendor, "vm_name", jvm->vm_name, "main_class",
                  jvm->main_class, "command_line", jvm->command_line, "libc", libc_name(jvm->libc));
    json_t *where = json_pack("{s:s, s:s, s:s, s:s, s:s}", "cgroup", jvm->cgroup, "container_id",
                              jvm->container_id, "pod_uid", jvm->pod_uid, "profiler", jvm->profiler,
                              "profiler_library", jvm->profiler_library);
    if (out == NULL || where == NULL || json_object_update(out, where) != 0 ||
        json_object_set_new(out, "flags", flags) != 0 ||
        json_object_set_new(out, "limits", limits) != 0 ||
        json_object_set_new(out, "verdict",
                            verdict_json(attach_reason_name(jvm->reason), jvm->detail)) != 0) {
        json_decref(out);
        out = NULL;
    }
    json_decref(where);
    return out;
}

bool json_print(json_t *value)
{
    bool ok = value != NULL && json_dumpf(value, stdout, JSON_INDENT(2)) == 0;
    json_decref(value);
    if (ok && putchar('\n') != EOF && fflush(stdout) == 0)
        return true;
    complain("cannot write the JSON");
    return false;
}
