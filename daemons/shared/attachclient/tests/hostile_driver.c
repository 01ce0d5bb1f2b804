/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists, starts, asks and stops one target after another, repeatedly, like a daemon; at the end
 * prints the results of each target and how much this process has grown.
 *
 * usage: hostile_driver SECONDS LIBRARY PID@TICKS=MILLISECONDS...
 * TICKS is when the process began, as in /proc/PID/stat: in an hour its pid may belong to another
 * process. MILLISECONDS is each operation's deadline for that target.
 * Output: "<pid> <operation> <reason>" once for each that occurred, then "rounds N",
 * "grown_kib N" since the first round, "descriptors N", "children N".
 */
#include <attachclient/attachclient.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGETS_MAX 32
#define OPS         4

static attach_request request;
static char seen[TARGETS_MAX][OPS][8][48]; /* results that have been printed */

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        (void)closedir(dir);
    return n - 3; /* ".", ".." and the directory itself */
}

static void tell(int target, int op, int pid, const char *outcome)
{
    static const char *const names[OPS] = {"start", "window", "command", "stop"};
    for (int i = 0; i < 8; i++) {
        char *slot = seen[target][op][i];
        if (strcmp(slot, outcome) == 0)
            return;
        if (slot[0] != '\0')
            continue;
        (void)snprintf(slot, sizeof(seen[0][0][0]), "%s", outcome);
        (void)printf("%d %s %s\n", pid, names[op], outcome);
        return;
    }
}

static int drop(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return 0;
}

static void visit(int target, const char *process)
{
    static const attach_op ops[OPS] = {ATTACH_OP_START, ATTACH_OP_WINDOW, ATTACH_OP_COMMAND,
                                       ATTACH_OP_STOP};
    char *rest = NULL;
    int pid = (int)strtol(process, &rest, 10);
    request.identity.start_ticks = strtoull(rest + 1, &rest, 10);
    request.timeout_ms = (uint32_t)strtoul(rest + 1, NULL, 10);
    for (int i = 0; i < OPS; i++) {
        attach_result result;
        attach_error err = {0};
        request.op = ops[i];
        request.identity.pid = pid;
        request.offset = UINT64_MAX;
        int rc = attachclient_run(&result, &request, drop, NULL, NULL, &err);
        char outcome[48];
        (void)snprintf(outcome, sizeof(outcome), "%d/%s", rc, attach_reason_name(err.reason));
        tell(target, i, pid, outcome);
    }
}

static int one_round(int n, char **targets)
{
    attach_jvm_list *list = NULL;
    if (attach_jvm_list_read(&list, NULL, NULL) != ATTACH_OK)
        return 1;
    attach_jvm_list_free(list);
    for (int i = 0; i < n && i < TARGETS_MAX; i++)
        visit(i, targets[i]);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (strchr(argv[i], '@') == NULL || strchr(argv[i], '=') == NULL)
            return 2;
    if (argc < 4)
        return 2;
    time_t end = time(NULL) + strtol(argv[1], NULL, 10);
    request.lock_ns = 10000000;
    request.recorder = ATTACH_AP_RECORDER_ASYNC_PROFILER;
    request.n_args = 1;
    (void)snprintf(request.command, sizeof(request.command), "jcmd");
    (void)snprintf(request.args[0], sizeof(request.args[0]), "VM.version");
    (void)snprintf(request.installation_id, sizeof(request.installation_id), "hostile%d",
                   (int)getpid());
    (void)snprintf(request.library, sizeof(request.library), "%s", argv[2]);
    int rc = one_round(argc - 3, argv + 3), rounds = 1;
    long first = resident_kib();
    for (; rc == 0 && time(NULL) < end; rounds++)
        rc = one_round(argc - 3, argv + 3);
    int children = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 1;
    (void)printf("rounds %d\ngrown_kib %ld\ndescriptors %d\nchildren %d\n", rounds,
                 resident_kib() - first, descriptors(), children);
    return rc;
}
