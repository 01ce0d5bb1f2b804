/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chdb-http: ClickHouse's HTTP interface over the embedded engine, for tests whose own process is
 * built with sanitisers and so cannot load the engine. Not a product: it listens on 127.0.0.1 only.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static const char usage[] =
    "usage: chdb-http --path DIR [--port N] [--port-file FILE] [--user NAME --password WORD]\n"
    "                 [--max-memory BYTES]\n"
    "Serves ClickHouse's HTTP interface over the engine in libchdb.so (HOTSTACK_LIBCHDB names "
    "it).\n"
    "--port 0, the default, takes a free port; --port-file gets its number. Ends on SIGTERM.\n";

typedef struct http_arguments {
    chs_embedded_options store;
    http_credentials credentials;
    const char *port_file;
    unsigned long port;
} http_arguments;

static bool parse_number(const char *text, unsigned long max, unsigned long *out)
{
    char *end;

    errno = 0;
    *out = strtoul(text, &end, 10);
    return text[0] && !*end && !errno && *out <= max;
}

static bool parse(http_arguments *out, int argc, char **argv)
{
    static const struct option options[] = {
        {"path", required_argument, NULL, 'd'},
        {"port", required_argument, NULL, 'p'},
        {"port-file", required_argument, NULL, 'f'},
        {"user", required_argument, NULL, 'u'},
        {"password", required_argument, NULL, 'w'},
        {"max-memory", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0},
    };
    unsigned long memory = 0;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'd')
            out->store.path = optarg;
        else if (option == 'f')
            out->port_file = optarg;
        else if (option == 'u')
            out->credentials.user = optarg;
        else if (option == 'w')
            out->credentials.password = optarg;
        else if (option == 'p' ? !parse_number(optarg, 65535, &out->port)
                               : option != 'm' || !parse_number(optarg, ULONG_MAX / 2, &memory))
            return false;
    }
    out->store.max_server_memory_usage = memory;
    return out->store.path && optind == argc;
}

/* Writes a temporary file and renames it: a program that waits for the file never reads half a
 * number. */
static bool write_port_file(const char *path, unsigned port)
{
    char *temporary = NULL;
    FILE *file;
    bool written;

    if (asprintf(&temporary, "%s.new", path) < 0)
        return false;
    file = fopen(temporary, "w");
    written = file && fprintf(file, "%u\n", port) > 0;
    if (file && fclose(file) != 0)
        written = false;
    if (written)
        written = rename(temporary, path) == 0;
    free(temporary);
    return written;
}

static int serve(const http_arguments *arguments, http_store *store, const sigset_t *ends)
{
    uint16_t port = 0;
    http_server *server =
        server_start(store, &arguments->credentials, (uint16_t)arguments->port, &port);
    int number;

    if (!server) {
        (void)fprintf(stderr, "chdb-http: cannot listen on 127.0.0.1:%lu\n", arguments->port);
        return EXIT_FAILURE;
    }
    if (arguments->port_file && !write_port_file(arguments->port_file, port)) {
        (void)fprintf(stderr, "chdb-http: cannot write %s: %s\n", arguments->port_file,
                      strerror(errno));
        server_stop(server);
        return EXIT_FAILURE;
    }
    (void)printf("chdb-http: ready on http://127.0.0.1:%u\n", port);
    (void)fflush(stdout);
    (void)sigwait(ends, &number);
    server_stop(server);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    http_arguments arguments = {CHS_EMBEDDED_OPTIONS_INIT, {NULL, NULL}, NULL, 0};
    sigset_t ends;
    http_store *store;
    chs_error err;
    int code;

    if (!parse(&arguments, argc, argv)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    /* Blocked before any thread starts, so that only sigwait receives them. */
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (!store_open(&store, &arguments.store, &err)) {
        (void)fprintf(stderr, "chdb-http: %s\n", err.message);
        return err.code == CHS_ERR_UNAVAILABLE ? 77 : EXIT_FAILURE;
    }
    code = serve(&arguments, store, &ends);
    store_close(store);
    return code;
}
