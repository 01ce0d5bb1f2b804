/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

extern char **environ;

static char directory[64] = "/tmp/chsink-test-XXXXXX";
static char data[96];
static char url[64];
static char *program; /* path of chdb-http */
static pid_t server;  /* chdb-http, 0 when the target is the engine in this process */

static void skip_all(const char *why)
{
    (void)printf("1..0 # SKIP %s\n", why);
    (void)fflush(stdout);
    target_stop();
    exit(EXIT_SUCCESS);
}

/* Reads from chdb-http up to "ready", or skips when it has no libchdb.so. */
static void await_ready(int from)
{
    FILE *lines = fdopen(from, "r");
    char line[512] = "";
    unsigned port;
    int status;

    if (lines && fgets(line, sizeof line, lines) &&
        sscanf(line, "chdb-http: ready on http://127.0.0.1:%u", &port) == 1) {
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
        (void)fclose(lines);
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    (void)waitpid(server, &status, 0);
    server = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_all("libchdb.so is not here: name it in HOTSTACK_LIBCHDB, ./dev build fetches it");
    (void)fprintf(stderr, "chdb-http did not start: %s\n", line);
    target_stop();
    exit(EXIT_FAILURE);
}

static void start_server(void)
{
    char *arguments[] = {program,
                         (char[]){"--path"},
                         data,
                         (char[]){"--user"},
                         (char[]){TARGET_USER},
                         (char[]){"--password"},
                         (char[]){TARGET_PASSWORD},
                         NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) != 0 ||
        posix_spawn(&server, program, &actions, NULL, arguments, environ) != 0) {
        perror(program);
        exit(EXIT_FAILURE);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    await_ready(ends[0]);
}

/* Checks in a child, because a process that has opened the engine must not fork. */
static void require_engine(void)
{
    chs_embedded_options options = CHS_EMBEDDED_OPTIONS_INIT;
    chs_transport *transport;
    chs_error err;
    int status;
    pid_t child = fork();

    if (child == 0) {
        options.path = data;
        if (chs_embedded_open(&transport, &options, &err) == 0) {
            chs_transport_close(transport);
            _exit(0);
        }
        (void)fprintf(stderr, "%s\n", err.message);
        _exit(err.code == CHS_ERR_UNAVAILABLE ? 77 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        exit(EXIT_FAILURE);
    if (WEXITSTATUS(status) == 77)
        skip_all("the embedded engine cannot run here (libchdb.so absent, or a sanitised build): "
                 "name it in HOTSTACK_LIBCHDB, ./dev build fetches it");
    if (WEXITSTATUS(status))
        exit(EXIT_FAILURE);
}

void target_start(int argc, char **argv)
{
    if (argc < 2 || !mkdtemp(directory)) {
        (void)fprintf(stderr, "usage: %s embedded | http CHDB-HTTP\n", argv[0]);
        exit(2);
    }
    (void)snprintf(data, sizeof data, "%s/data", directory);
    if (strcmp(argv[1], "http") == 0 && argc == 3) {
        program = argv[2];
        start_server();
    } else {
        require_engine();
    }
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about;
    (void)kind;
    (void)at;
    return remove(path);
}

void target_stop(void)
{
    int status;

    if (server) {
        (void)kill(server, SIGTERM);
        (void)waitpid(server, &status, 0);
        server = 0;
    }
    (void)nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int target_end_own(void)
{
    int status = 0;

    ck_assert_int_eq(kill(server, SIGTERM), 0);
    ck_assert_int_eq(waitpid(server, &status, 0), server);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void target_start_own(void)
{
    (void)snprintf(data, sizeof data, "%s/own", directory);
    start_server();
}

int target_restart_own(void)
{
    int code = target_end_own();

    start_server();
    return code;
}

bool target_is_http(void)
{
    return url[0] != '\0';
}

const char *target_url(void)
{
    return url;
}

const char *target_path(void)
{
    return data;
}

chs_transport *target_open_http(const chs_http_options *options)
{
    chs_transport *transport = NULL;
    chs_error err;

    ck_assert_msg(chs_http_open(&transport, options, &err) == 0, "%s", err.message);
    return transport;
}

chs_transport *target_open(void)
{
    chs_http_options http = CHS_HTTP_OPTIONS_INIT;
    chs_embedded_options embedded = CHS_EMBEDDED_OPTIONS_INIT;
    chs_transport *transport = NULL;
    chs_error err;

    if (target_is_http()) {
        http.url = url;
        http.user = TARGET_USER;
        http.password = TARGET_PASSWORD;
        return target_open_http(&http);
    }
    embedded.path = data;
    ck_assert_msg(chs_embedded_open(&transport, &embedded, &err) == 0, "%s", err.message);
    return transport;
}
