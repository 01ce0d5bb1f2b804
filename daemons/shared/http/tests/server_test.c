/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the whole server over real sockets, as a client sees it. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <http/assets.h>
#include <http/server.h>

#include "run_suite.h"

enum { ANSWER_MAX = 1 << 20, LOGGED_MAX = 512, WAIT_MS = 20000 };

static http_server *server;
static http_assets *assets;
static char assets_dir[64];
static char answer[ANSWER_MAX];
static atomic_uint handled;

static void handle_echo(void *context, const http_request *request, http_response *response)
{
    size_t length;
    const void *body = http_request_body(request, &length);

    (void)context;
    atomic_fetch_add(&handled, 1);
    http_response_copy(response, "application/octet-stream", body, length);
}

static void handle_where(void *context, const http_request *request, http_response *response)
{
    char text[512], cookie[64];
    const char *session = http_request_cookie(request, "sid", cookie, sizeof(cookie));

    (void)context;
    int length = snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%s", http_request_method(request),
                          http_request_path(request), http_request_query(request),
                          http_request_param(request, 0), http_request_peer(request),
                          session != NULL ? session : "-");
    http_response_copy(response, "text/plain", text, (size_t)length);
    http_response_etag(response, http_request_header(request, "if-none-match"));
}

static bool admit_known(void *context, http_request *request, http_response *response)
{
    (void)context;
    if (http_request_header(request, "Authorization") != NULL)
        return true;
    http_response_error(response, 401, "unauthenticated", "No \"token\".");
    return false;
}

/* An authenticator that does not answer before it is told to. */
static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t slow_changed = PTHREAD_COND_INITIALIZER;
static unsigned slow_waiting, slow_answers, released;

static void release_name(void *user)
{
    released++;
    free(user);
}

static bool admit_slowly(void *context, http_request *request, http_response *response)
{
    (void)context;
    pthread_mutex_lock(&slow_lock);
    slow_waiting++;
    pthread_cond_broadcast(&slow_changed);
    while (slow_answers == 0)
        pthread_cond_wait(&slow_changed, &slow_lock);
    slow_answers--;
    pthread_mutex_unlock(&slow_lock);
    http_response_header(response, "X-Admitted", "late");
    http_request_set_user(request, strdup("somebody"), release_name);
    return true;
}

static void await_slow(unsigned count)
{
    pthread_mutex_lock(&slow_lock);
    while (slow_waiting < count)
        pthread_cond_wait(&slow_changed, &slow_lock);
    pthread_mutex_unlock(&slow_lock);
}

static void let_one_go(void)
{
    pthread_mutex_lock(&slow_lock);
    slow_answers++;
    pthread_cond_broadcast(&slow_changed);
    pthread_mutex_unlock(&slow_lock);
}

static void handle_user(void *context, const http_request *request, http_response *response)
{
    const char *user = http_request_user(request);

    (void)context;
    http_response_copy(response, "text/plain", user, strlen(user));
}

static void handle_big(void *context, const http_request *request, http_response *response)
{
    size_t length = 512 * 1024;
    char *data = malloc(length);

    (void)context, (void)request;
    memset(data, 'b', length);
    http_response_take(response, "text/plain", data, length);
}

static void handle_assets(void *context, const http_request *request, http_response *response)
{
    http_assets_answer(context, request, response);
}

static http_route routes[] = {
    {"POST", "/echo", 1000, NULL, handle_echo, NULL, NULL},
    {"POST", "/guarded", 1000, admit_known, handle_echo, NULL, NULL},
    {"GET", "/where/{}", 0, NULL, handle_where, NULL, NULL},
    {"GET", "/big", 0, NULL, handle_big, NULL, NULL},
    {"GET", "/slow", 0, admit_slowly, handle_user, NULL, NULL},
    {"GET", "/*", 0, NULL, handle_assets, NULL, NULL},
};

static void write_file(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", assets_dir, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void start_with(const http_server_options *options)
{
    http_error err = {0};
    char sub[80];

    strcpy(assets_dir, "/tmp/http-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(assets_dir));
    snprintf(sub, sizeof(sub), "%s/assets", assets_dir);
    mkdir(sub, 0700);
    write_file("index.html", "<!doctype html>page");
    write_file("assets/app.js", "script");
    ck_assert_int_eq(http_assets_load(&assets, assets_dir, &err), 0);
    routes[5].context = assets;
    ck_assert_msg(http_server_start(&server, options, &err) == 0, "%s", err.message);
}

static http_server_options small_options(void)
{
    http_server_options options = HTTP_SERVER_OPTIONS_INIT;

    options.routes = routes;
    options.route_count = sizeof(routes) / sizeof(routes[0]);
    options.workers = 2;
    options.body_bytes_total = 100000;
    options.chunked_bytes = 5000;
    return options;
}

static void set_up(void)
{
    http_server_options options = small_options();

    start_with(&options);
}

static void remove_file(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", assets_dir, name);
    ck_assert_int_eq(remove(path), 0);
}

static void tear_down(void)
{
    http_server_stop(server, 100);
    http_assets_free(assets);
    remove_file("assets/app.js");
    remove_file("assets");
    remove_file("index.html");
    rmdir(assets_dir);
}

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http_server_port(server))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Reads until the text has arrived (anywhere), or until the end when it is NULL. */
static const char *hear(int fd, const char *until)
{
    size_t used = 0;

    answer[0] = '\0';
    while (used + 1 < sizeof(answer) && (until == NULL || strstr(answer, until) == NULL)) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ck_assert_msg(poll(&ready, 1, WAIT_MS) == 1, "nothing more came after: %s", answer);
        ssize_t got = recv(fd, answer + used, sizeof(answer) - used - 1, 0);
        if (got <= 0)
            break;
        used += (size_t)got;
        answer[used] = '\0';
    }
    return answer;
}

static const char *ask(const char *request)
{
    int fd = dial();

    say(fd, request);
    hear(fd, NULL);
    close(fd);
    return answer;
}

static void expect(const char *text)
{
    ck_assert_msg(strstr(answer, text) != NULL, "no \"%s\" in: %s", text, answer);
}

#define CLOSE "Host: a\r\nConnection: close\r\n"

START_TEST(test_echo_and_headers)
{
    ask("POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 5\r\n\r\nhello");
    expect("HTTP/1.1 200");
    expect("\r\n\r\nhello");
    expect("Content-Security-Policy: default-src 'none'");
    expect("X-Content-Type-Options: nosniff");
    expect("X-Frame-Options: DENY");
    expect("Cache-Control: no-store");
}
END_TEST

START_TEST(test_chunked_body)
{
    ask("POST /echo HTTP/1.1\r\n" CLOSE
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
    expect("\r\n\r\nabcdefg");
}
END_TEST

START_TEST(test_where)
{
    ask("GET /where/a%2Fb%20c?x=%41 HTTP/1.1\r\nCookie: q=1; sid=abc; z=2\r\n" CLOSE "\r\n");
    expect("GET|/where/a%2Fb%20c|x=%41|a/b c|127.0.0.1|abc");
    ck_assert_ptr_nonnull(strstr(answer, "ETag: \""));
    char tag[32], request[256];
    sscanf(strstr(answer, "ETag: ") + 6, "%31s", tag);
    snprintf(request, sizeof(request),
             "GET /where/a%%2Fb%%20c?x=%%41 HTTP/1.1\r\nCookie: q=1; sid=abc\r\n"
             "If-None-Match: \"no\", W/%s\r\n" CLOSE "\r\n",
             tag);
    ask(request);
    expect("HTTP/1.1 304");
    ck_assert_ptr_null(strstr(answer, "GET|"));
}
END_TEST

static const struct {
    const char *request;
    const char *expected[2];
} rows[] = {
    {"GET /where/%ff HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 400", "bad_request"}},
    {"GET /v1/.. HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 404", "not_found"}},
    {"GET /../../etc/passwd HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 200", "page"}},
    {"GET /assets/../../etc/host.conf HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 404", "not_found"}},
    {"GET /assets/app%2Ejs HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 404", "not_found"}},
    {"GET /assets/app.js HTTP/1.1\r\n" CLOSE "\r\n", {"immutable", "\r\n\r\nscript"}},
    {"GET / HTTP/1.1\r\n" CLOSE "\r\n", {"text/html", "page"}},
    {"GET /some/page HTTP/1.1\r\n" CLOSE "\r\n", {"text/html", "page"}},
    {"GET /v1/none HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 404", "\"code\":\"not_found\""}},
    {"HEAD /some/page HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 200", "Content-Length: 19"}},
    {"GET /echo HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 405", "method_not_allowed"}},
    {"POST /some/page HTTP/1.1\r\n" CLOSE "\r\n", {"HTTP/1.1 405", "method_not_allowed"}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 1001\r\n\r\n",
     {"HTTP/1.1 413", "payload_too_large"}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 1000000000\r\n\r\nabc",
     {"HTTP/1.1 413", "payload_too_large"}},
    {"POST /guarded HTTP/1.1\r\n" CLOSE "Content-Length: 1000000000\r\n\r\nabc",
     {"HTTP/1.1 401", "No \\\"token\\\"."}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
     {"HTTP/1.1 400", "repeated_field"}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Content-Length : 1\r\n\r\na",
     {"HTTP/1.1 400", "bad_field_name"}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Transfer-Encoding: chunked\r\n\r\nffff\r\n",
     {"HTTP/1.1 413", "payload_too_large"}},
    {"POST /echo HTTP/1.1\r\n" CLOSE "Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc",
     {"HTTP/1.1 400", "bad_chunk_size"}},
};

START_TEST(test_rows)
{
    ask(rows[_i].request);
    expect(rows[_i].expected[0]);
    expect(rows[_i].expected[1]);
}
END_TEST

START_TEST(test_chunked_over_the_route_limit)
{
    char request[2048] =
        "POST /echo HTTP/1.1\r\n" CLOSE "Transfer-Encoding: chunked\r\n\r\n5dc\r\n";
    size_t length = strlen(request);

    memset(request + length, 'x', 1500);
    strcpy(request + length + 1500, "\r\n0\r\n\r\n");
    ask(request);
    expect("HTTP/1.1 413");
    http_server_stats stats;
    http_server_get_stats(server, &stats);
    ck_assert_uint_eq(stats.body_bytes, 0);
}
END_TEST

START_TEST(test_keep_alive_and_pipelining)
{
    int fd = dial();

    for (int i = 0; i < 3; i++) {
        say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\npart");
        hear(fd, "\r\n\r\npart");
    }
    say(fd,
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\noneGET /where/two HTTP/1.1\r\n"
        "Host: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    hear(fd, NULL);
    expect("\r\n\r\none");
    expect("|two|");
    /* The gate refuses the third request, although two good ones precede it. */
    expect("repeated_field");
    close(fd);
}
END_TEST

START_TEST(test_body_in_pieces_with_expect)
{
    int fd = dial();

    say(fd, "POST /echo HTTP/1.1\r\n" CLOSE "Expect: 100-continue\r\nContent-Length: 6\r\n\r\n");
    hear(fd, "HTTP/1.1 100");
    say(fd, "abc");
    say(fd, "def");
    hear(fd, NULL);
    expect("\r\n\r\nabcdef");
    close(fd);
}
END_TEST

START_TEST(test_a_big_answer_is_whole)
{
    ask("GET /big HTTP/1.1\r\n" CLOSE "\r\n");
    const char *body = strstr(answer, "\r\n\r\n");
    ck_assert_ptr_nonnull(body);
    ck_assert_uint_eq(strlen(body + 4), 512 * 1024);
}
END_TEST

START_TEST(test_a_client_that_leaves_is_forgotten)
{
    http_server_stats stats;

    for (int i = 0; i < 20; i++) {
        int fd = dial();
        say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nabc");
        close(fd);
    }
    do {
        ask("GET / HTTP/1.1\r\n" CLOSE "\r\n");
        expect("HTTP/1.1 200");
        http_server_get_stats(server, &stats);
    } while (stats.open > 1 || stats.body_bytes > 0);
}
END_TEST

static void keep_line(void *context, const char *message)
{
    (void)snprintf(context, LOGGED_MAX, "%s", message);
}

START_TEST(test_an_answer_is_nothing_to_log)
{
    char logged[LOGGED_MAX] = "";
    http_server_options options = small_options();

    options.log = keep_line;
    options.log_context = logged;
    start_with(&options);
    ask("POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 5\r\n\r\nhello");
    expect("HTTP/1.1 200");
    tear_down();
    ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(test_deadlines)
{
    http_server_options options = small_options();
    http_server_stats stats;

    options.head_ms = options.body_ms = 50;
    start_with(&options);
    int head = dial(), body = dial();
    say(head, "GET / HTTP/1.1\r\nHo");
    say(body, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
    hear(head, NULL);
    expect("HTTP/1.1 408");
    hear(body, NULL);
    expect("HTTP/1.1 408");
    http_server_get_stats(server, &stats);
    ck_assert_uint_eq(stats.timeouts, 2);
    close(head);
    close(body);
    tear_down();
}
END_TEST

START_TEST(test_a_dripping_client_does_not_move_the_deadline)
{
    http_server_options options = small_options();

    options.head_ms = 300;
    start_with(&options);
    int fd = dial();
    say(fd, "GET / HTTP/1.1\r\nX: ");
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, 20) == 0)
        send(fd, "y", 1, MSG_NOSIGNAL);
    hear(fd, NULL);
    expect("HTTP/1.1 408");
    close(fd);
    tear_down();
}
END_TEST

/* Every admitter is busy: a route without admission is served, one more request waits in the queue,
 * and the next one is refused. */
START_TEST(test_a_slow_authenticator_delays_nobody_else)
{
    http_server_options options = small_options();
    int slow[3];

    options.admitters = 2;
    options.queue = 1;
    start_with(&options);
    for (int i = 0; i < 2; i++) {
        slow[i] = dial();
        say(slow[i], "GET /slow HTTP/1.1\r\n" CLOSE "\r\n");
        await_slow((unsigned)i + 1);
    }
    int other = dial();
    say(other, "POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 5\r\n\r\nhello");
    hear(other, NULL);
    expect("\r\n\r\nhello");
    close(other);
    struct pollfd late[2];
    for (int i = 0; i < 2; i++) {
        late[i] = (struct pollfd){.fd = dial(), .events = POLLIN};
        say(late[i].fd, "GET /slow HTTP/1.1\r\n" CLOSE "\r\n");
    }
    ck_assert_int_eq(poll(late, 2, WAIT_MS), 1);
    int told = late[0].revents != 0 ? 0 : 1;
    hear(late[told].fd, NULL);
    expect("HTTP/1.1 503");
    expect("Retry-After: 1");
    close(late[told].fd);
    slow[2] = late[1 - told].fd;
    /* One by one: the workers' queue is as short as the admitters'. */
    struct pollfd waiting[3];
    for (int i = 0; i < 3; i++)
        waiting[i] = (struct pollfd){.fd = slow[i], .events = POLLIN};
    for (int i = 0; i < 3; i++) {
        let_one_go();
        ck_assert_int_eq(poll(waiting, 3, WAIT_MS), 1);
        int at = waiting[0].revents != 0 ? 0 : waiting[1].revents != 0 ? 1 : 2;
        hear(waiting[at].fd, NULL);
        expect("X-Admitted: late");
        expect("\r\n\r\nsomebody");
        close(waiting[at].fd);
        waiting[at].fd = -1;
    }
    tear_down();
    ck_assert_uint_eq(released, 3);
}
END_TEST

START_TEST(test_connection_limits)
{
    http_server_options options = small_options();
    http_server_stats stats;
    char byte;

    options.connections_per_address = 2;
    start_with(&options);
    int first = dial(), second = dial(), third = dial();
    ck_assert_int_le(recv(third, &byte, 1, 0), 0);
    say(first, "GET / HTTP/1.1\r\n" CLOSE "\r\n");
    hear(first, NULL);
    expect("HTTP/1.1 200");
    http_server_get_stats(server, &stats);
    ck_assert_uint_eq(stats.refused_connections, 1);
    close(first);
    close(second);
    close(third);
    tear_down();
}
END_TEST

static void *ask_many(void *context)
{
    unsigned *good = context;

    for (int i = 0; i < 50; i++) {
        char got[4096] = "";
        size_t used = 0;
        int fd = dial();
        say(fd, "POST /echo HTTP/1.1\r\n" CLOSE "Content-Length: 5\r\n\r\nhello");
        for (ssize_t n; (n = recv(fd, got + used, sizeof(got) - used - 1, 0)) > 0;)
            used += (size_t)n;
        *good += strstr(got, "\r\n\r\nhello") != NULL ? 1 : 0;
        close(fd);
    }
    return NULL;
}

START_TEST(test_many_clients_at_once)
{
    pthread_t threads[4];
    unsigned good[4] = {0};

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_many, &good[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(good[i], 50);
    }
}
END_TEST

START_TEST(test_address_in_use)
{
    http_server_options options = small_options();
    http_server *second;
    http_error err = {0};

    options.port = http_server_port(server);
    ck_assert_int_eq(http_server_start(&second, &options, &err), HTTP_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "in use"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http-server");
    TCase *tcase = tcase_create("server"), *limits = tcase_create("limits");

    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, limits);
    tcase_set_timeout(tcase, 120);
    tcase_set_timeout(limits, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_echo_and_headers);
    tcase_add_test(tcase, test_chunked_body);
    tcase_add_test(tcase, test_where);
    tcase_add_loop_test(tcase, test_rows, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, test_chunked_over_the_route_limit);
    tcase_add_test(tcase, test_keep_alive_and_pipelining);
    tcase_add_test(tcase, test_body_in_pieces_with_expect);
    tcase_add_test(tcase, test_a_big_answer_is_whole);
    tcase_add_test(tcase, test_a_client_that_leaves_is_forgotten);
    tcase_add_test(tcase, test_many_clients_at_once);
    tcase_add_test(tcase, test_address_in_use);
    tcase_add_test(limits, test_an_answer_is_nothing_to_log);
    tcase_add_test(limits, test_deadlines);
    tcase_add_test(limits, test_a_dripping_client_does_not_move_the_deadline);
    tcase_add_test(limits, test_connection_limits);
    tcase_add_test(limits, test_a_slow_authenticator_delays_nobody_else);
    return run_suite(suite);
}
