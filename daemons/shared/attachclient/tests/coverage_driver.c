/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves one JVM like a collector, as a program that may be killed at any moment: starts or adopts
 * a session, takes windows, keeps each as a file "<first byte>-<end>.jfr", and goes on where its
 * files end when it is started again. SIGTERM ends it with the last window and nothing left behind.
 * With an agent it takes a thread snapshot beside each window.
 *
 * usage: coverage_driver PID INSTALLATION LIBRARY DIRECTORY WINDOW_SECONDS [AGENT]
 */
#include <attachclient/attachclient.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 60000

static attach_request request;
static const char *directory;

static int fail(const char *what)
{
    (void)fprintf(stderr, "coverage_driver: %s\n", what);
    return 1;
}

/* Returns where the complete files end. */
static uint64_t covered(void)
{
    uint64_t end = 0;
    const struct dirent *entry;
    DIR *dir = opendir(directory);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char *rest;
        if (strstr(entry->d_name, ".jfr") == NULL || strchr(entry->d_name, '-') == NULL)
            continue;
        uint64_t to = strtoull(strchr(entry->d_name, '-') + 1, &rest, 10);
        if (strcmp(rest, ".jfr") == 0 && to > end)
            end = to;
    }
    if (dir != NULL)
        (void)closedir(dir);
    return end;
}

static int keep_piece(void *ctx, const uint8_t *bytes, size_t n)
{
    const int *fd = ctx;
    return write(*fd, bytes, n) == (ssize_t)n ? 0 : -1;
}

/* Takes a window, or the last one, into a file that appears whole or not at all. */
static int take(attach_op op)
{
    char partial[512], whole[600];
    attach_result result;
    attach_error err = {0};
    uint64_t from = covered();
    (void)snprintf(partial, sizeof(partial), "%s/partial", directory);
    int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail("cannot create a file");
    request.op = op;
    request.offset = request.settled = from;
    int rc = attachclient_run(&result, &request, keep_piece, &fd, NULL, &err);
    (void)close(fd);
    if (rc != 0)
        return fail(err.message);
    (void)snprintf(whole, sizeof(whole), "%s/%" PRIu64 "-%" PRIu64 ".jfr", directory, from,
                   from + result.bytes);
    return rename(partial, whole) == 0 ? 0 : fail("cannot rename a file");
}

static int drop_piece(void *ctx, const uint8_t *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return 0;
}

static int ask_agent(attach_op op, const char *agent)
{
    attach_result result;
    attach_error err = {0};
    attach_request snapshot = {.op = op,
                               .identity = request.identity,
                               .timeout_ms = TIMEOUT_MS,
                               .threads_flags = ATTACH_THREADS_MONITORS | ATTACH_THREADS_NATIVE_IDS,
                               .lease_ms = 3 * TIMEOUT_MS};
    (void)snprintf(snapshot.installation_id, sizeof(snapshot.installation_id), "%s",
                   request.installation_id);
    (void)snprintf(snapshot.library, sizeof(snapshot.library), "%s", agent);
    if (attachclient_run(&result, &snapshot, drop_piece, NULL, NULL, &err) != 0)
        return fail(err.message);
    return op == ATTACH_OP_THREADS_CLOSE || result.bytes > 0 ? 0 : fail("an empty snapshot");
}

static int start(void)
{
    attach_result result;
    attach_error err = {0};
    request.op = ATTACH_OP_START;
    if (attachclient_run(&result, &request, NULL, NULL, NULL, &err) != 0)
        return fail(err.message);
    (void)printf("%s\n", attach_ap_state_name(result.info.state));
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    sigset_t ending;
    if (argc != 6 && argc != 7)
        return fail(
            "usage: coverage_driver PID INSTALLATION LIBRARY DIRECTORY WINDOW_SECONDS [AGENT]");
    const char *agent = argv[6]; /* NULL = none */
    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ending, NULL);
    directory = argv[4];
    request.identity.pid = (int32_t)strtol(argv[1], NULL, 10);
    request.timeout_ms = TIMEOUT_MS;
    request.alloc_bytes = 2 << 20;
    request.lock_ns = 10000000;
    (void)snprintf(request.installation_id, sizeof(request.installation_id), "%s", argv[2]);
    (void)snprintf(request.library, sizeof(request.library), "%s", argv[3]);
    struct timespec window = {.tv_sec = strtol(argv[5], NULL, 10)};
    int rc = start();
    while (rc == 0) {
        if (agent != NULL)
            rc = ask_agent(ATTACH_OP_THREADS, agent);
        if (rc == 0 && sigtimedwait(&ending, NULL, &window) > 0)
            break;
        if (rc == 0)
            rc = take(ATTACH_OP_WINDOW);
    }
    if (rc == 0 && agent != NULL)
        rc = ask_agent(ATTACH_OP_THREADS_CLOSE, agent);
    return rc == 0 ? take(ATTACH_OP_STOP) : rc;
}
