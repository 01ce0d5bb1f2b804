/* SPDX-License-Identifier: Apache-2.0 */
/* attach-list: the JVMs of this machine, and the answer of one diagnostic command.
 * usage: attach-list [PID COMMAND]   for example: attach-list 4711 "Thread.print -l" */
#include <attach/attach.h>
#include <stdio.h>
#include <stdlib.h>

#define DEADLINE_MS 10000

static int list(void)
{
    attach_jvm_list *jvms = NULL;
    attach_error err;
    if (attach_jvm_list_read(&jvms, NULL, &err) != ATTACH_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (size_t i = 0; i < attach_jvm_list_count(jvms); i++) {
        const attach_jvm *jvm = attach_jvm_list_at(jvms, i);
        printf("%d %s %s %s\n", jvm->identity.pid, jvm->version, jvm->main_class,
               jvm->reason == ATTACH_REASON_NONE ? "ok" : attach_reason_name(jvm->reason));
    }
    attach_jvm_list_free(jvms);
    return 0;
}

/* Works for JVMs of the caller's own user. For other JVMs a program becomes their user first, as
 * hotstack-attach-worker does. */
static int ask(int pid, const char *command)
{
    attach_identity identity = {.pid = pid};
    attach_target *target = NULL;
    attach_reply *reply = NULL;
    attach_error err;
    int rc = attach_target_open(&target, &identity, NULL, &err);
    if (rc == ATTACH_OK)
        rc = attach_jcmd(&reply, target, command, attach_deadline_in(DEADLINE_MS), &err);
    if (rc == ATTACH_OK)
        fputs(attach_reply_text(reply), stdout);
    else
        fprintf(stderr, "%s\n", err.message);
    attach_reply_free(reply);
    attach_target_close(target);
    return rc == ATTACH_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return list();
    if (argc == 3)
        return ask((int)strtol(argv[1], NULL, 10), argv[2]);
    fprintf(stderr, "usage: attach-list [PID COMMAND]\n");
    return 2;
}
