/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack ps`: the JVMs of this machine and a verdict on each. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include <attach/attach.h>

#include "cli/commands/jvm_json.h"
#include "cli/options/options.h"

static const char *user_name(uint32_t uid, char *buf, size_t cap)
{
    const struct passwd *entry = getpwuid(uid);
    (void)snprintf(buf, cap, "%u", uid);
    return entry == NULL ? buf : entry->pw_name;
}

static void print_row(const attach_jvm *jvm)
{
    char number[16];
    /* Only the jar's name; --json has its path. */
    const char *slash = strrchr(jvm->main_class, '/');
    const char *main_class = slash == NULL ? jvm->main_class : slash + 1;
    (void)printf("%7d  %-12s  %-12s  %-40s  ", jvm->identity.pid,
                 user_name(jvm->uid, number, sizeof(number)),
                 jvm->version[0] == '\0' ? "?" : jvm->version,
                 main_class[0] == '\0' ? "?" : main_class);
    if (jvm->reason == ATTACH_REASON_NONE)
        (void)puts("ok");
    else
        (void)printf("%s: %s\n", attach_reason_name(jvm->reason), jvm->detail);
}

static bool print_json(const attach_jvm_list *jvms)
{
    json_t *rows = json_array();
    bool ok = rows != NULL;
    for (size_t i = 0; ok && i < attach_jvm_list_count(jvms); i++)
        ok = json_array_append_new(rows, jvm_json(attach_jvm_list_at(jvms, i))) == 0;
    return json_print(json_pack("{s:o}", "jvms", rows)) && ok;
}

static int list(bool json)
{
    attach_jvm_list *jvms = NULL;
    attach_error err = {0};
    if (attach_jvm_list_read(&jvms, NULL, &err) != ATTACH_OK) {
        complain("%s", err.message);
        return EXIT_UNREADABLE;
    }
    if (json) {
        bool ok = print_json(jvms);
        attach_jvm_list_free(jvms);
        return ok ? EXIT_WHOLE : EXIT_UNREADABLE;
    }
    (void)printf("%7s  %-12s  %-12s  %-40s  %s\n", "PID", "USER", "VERSION", "MAIN", "VERDICT");
    for (size_t i = 0; i < attach_jvm_list_count(jvms); i++)
        print_row(attach_jvm_list_at(jvms, i));
    attach_jvm_list_free(jvms);
    return EXIT_WHOLE;
}

static int ps_run(cli_options *o)
{
    return list(o->json);
}

const command ps_command = {
    .name = "ps",
    .summary = "List the JVMs of this machine, and whether they can be profiled",
    .usage = "[--json]",
    .about = "Lists the JVMs of this machine: process id, user, Java version, main class or jar, "
             "and `ok` or the reason why the JVM cannot be profiled. The list includes JVMs in "
             "containers. Only root sees the details of other users' JVMs.",
    .ending = "Exit codes: 0 done; 1 the JVMs cannot be listed; 2 wrong usage.",
    .bit = OF_PS,
    .operands = OPERANDS_NONE,
    .run = ps_run,
};
