/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the HTTP transport with answers that no ClickHouse gives, and the requests that it sends.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include <chsink/chsink.h>

#include "fake_server.h"
#include "run_suite.h"

static chs_error err;

#define OK(call) ck_assert_msg((call) == 0, "%s", err.message)

#define BLOCK     "\x01\x02\x01n\x05UInt8\x07\x08"
#define HEAD_200  "HTTP/1.1 200 OK\r\n"
#define EXCEPTION "Code: 395. DB::Exception: Thrown in the middle. (FUNCTION_THROW_IF)\n"
#define ANSWER(text)                                                                               \
    {                                                                                              \
        text, sizeof(text) - 1, 0                                                                  \
    }
#define LAST_ANSWER(text)                                                                          \
    {                                                                                              \
        text, sizeof(text) - 1, 1                                                                  \
    }

static chs_transport *open_transport(const char *url, chs_http_options *options)
{
    chs_http_options usual = CHS_HTTP_OPTIONS_INIT;
    chs_transport *transport;

    if (!options)
        options = &usual;
    options->url = url;
    OK(chs_http_open(&transport, options, &err));
    return transport;
}

static int sum_rows(void *context, const chs_result *block)
{
    chs_uints values;
    uint64_t i;

    OK(chs_result_uints(&values, block, "n", &err));
    for (i = 0; i < values.rows; i++)
        *(uint64_t *)context += values.values[i];
    return 0;
}

/* Answers to a query, and the result of each. */
static const struct answer_row {
    fake_answer answer;
    int code;
    int server_code;
    uint64_t sum; /* of the blocks that were passed before the failure */
    const char *says;
} answer_rows[] = {
    {ANSWER(HEAD_200 "Content-Length: 12\r\n\r\n" BLOCK), 0, 0, 15, ""},
    {ANSWER(HEAD_200
            "Transfer-Encoding: chunked\r\n\r\n6\r\n\x01\x02\x01n\x05U\r\n6\r\nInt8\x07\x08"
            "\r\n0\r\n\r\n"),
     0, 0, 15, ""},
    {ANSWER(HEAD_200 "Content-Length: 0\r\n\r\n"), 0, 0, 0, ""},
    /* cut: by length, by chunk, in a block */
    {LAST_ANSWER(HEAD_200 "Content-Length: 24\r\n\r\n" BLOCK), CHS_ERR_NETWORK, 0, 15, "http://"},
    {LAST_ANSWER(HEAD_200 "Transfer-Encoding: chunked\r\n\r\nc\r\n" BLOCK "\r\n"), CHS_ERR_NETWORK,
     0, 15, "http://"},
    {ANSWER(HEAD_200 "Content-Length: 11\r\n\r\n\x01\x02\x01n\x05UInt8\x07"), CHS_ERR_FORMAT, 0, 0,
     "ends at byte 11"},
    {LAST_ANSWER(HEAD_200), CHS_ERR_NETWORK, 0, 0, "http://"},
    {LAST_ANSWER("garbage\r\n\r\n"), CHS_ERR_NETWORK, 0, 0, "http://"},
    /* an exception in the middle: between blocks, and inside one; the transfer ends well or not */
    {ANSWER(HEAD_200 "Content-Length: 80\r\n\r\n" BLOCK EXCEPTION), CHS_ERR_SERVER_FINAL, 395, 15,
     "Thrown in the middle"},
    {LAST_ANSWER(HEAD_200 "Transfer-Encoding: chunked\r\n\r\n50\r\n" BLOCK EXCEPTION "\r\n"),
     CHS_ERR_SERVER_FINAL, 395, 15, "Thrown in the middle"},
    {ANSWER(HEAD_200 "Content-Length: 79\r\n\r\n\x01\x02\x01n\x05UInt8\x07" EXCEPTION),
     CHS_ERR_SERVER_FINAL, 395, 74, "Thrown in the middle"},
    /* not in the format */
    {ANSWER(HEAD_200 "Content-Length: 13\r\n\r\n<html></html>"), CHS_ERR_FORMAT, 0, 0, ""},
    {ANSWER(HEAD_200 "Content-Length: 10\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01"),
     CHS_ERR_LIMIT, 0, 0, "limits"},
    {ANSWER(HEAD_200 "Content-Encoding: zstd\r\nContent-Length: 12\r\n\r\n" BLOCK), CHS_ERR_FORMAT,
     0, 0, "http://"},
    /* refusals */
    {ANSWER(
         "HTTP/1.1 403 Forbidden\r\nX-ClickHouse-Exception-Code: 516\r\nContent-Length: 38\r\n\r\n"
         "Code: 516. DB::Exception: Who are you?"),
     CHS_ERR_AUTH, 516, 0, "Who are you?"},
    {ANSWER("HTTP/1.1 500 Oops\r\nX-ClickHouse-Exception-Code: 241\r\nContent-Length: 0\r\n\r\n"),
     CHS_ERR_SERVER_RETRY, 241, 0, "status 500"},
    {ANSWER("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), CHS_ERR_AUTH, 0, 0, "401"},
    {ANSWER("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nwait"), CHS_ERR_SERVER_RETRY, 0, 0,
     "wait"},
    {ANSWER("HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n"), CHS_ERR_TIMEOUT, 0, 0, "504"},
    {ANSWER("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
     CHS_ERR_SERVER_FINAL, 0, 0, "302"},
};

START_TEST(takes_each_answer_for_what_it_is)
{
    const struct answer_row *row = &answer_rows[_i];
    fake_server *server = fake_server_start(&row->answer);
    chs_transport *transport = open_transport(fake_server_url(server), NULL);
    uint64_t sum = 0;
    int rc = chs_query(transport, "SELECT 1", NULL, sum_rows, &sum, &err);

    ck_assert_msg(rc == row->code, "%d: %s", rc, rc ? err.message : "");
    if (rc) {
        ck_assert_int_eq(err.server_code, row->server_code);
        ck_assert_msg(strstr(err.message, row->says) != NULL, "%s", err.message);
    }
    ck_assert_uint_eq(sum, row->sum);
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(an_exception_in_a_200_fails_an_insert)
{
    static const fake_answer answer = ANSWER(HEAD_200 "Content-Length: 68\r\n\r\n" EXCEPTION);
    fake_server *server = fake_server_start(&answer);
    chs_transport *transport = open_transport(fake_server_url(server), NULL);

    ck_assert_int_eq(chs_exec(transport, "x", NULL, &err), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 395);
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(an_answer_has_its_limit)
{
    enum { ZEROS = 4 << 20 };
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    static char zeros[ZEROS], packed[ZEROS / 100];
    static char whole[ZEROS / 100 + 256];
    z_stream stream = {0};
    fake_answer answer = {whole, 0, 0};
    fake_server *server;
    chs_transport *transport;

    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)zeros;
    stream.avail_in = ZEROS;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = sizeof packed;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    answer.length = (size_t)snprintf(
        whole, sizeof whole, HEAD_200 "Content-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n",
        stream.total_out);
    memcpy(whole + answer.length, packed, stream.total_out);
    answer.length += stream.total_out;
    (void)deflateEnd(&stream);
    server = fake_server_start(&answer);
    options.answer_compression = CHS_COMPRESSION_GZIP;
    options.max_answer_bytes = 1 << 20;
    transport = open_transport(fake_server_url(server), &options);
    ck_assert_int_eq(chs_exec(transport, "x", NULL, &err), CHS_ERR_LIMIT);
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(a_silent_server_times_out)
{
    static const fake_answer silence = {NULL, 0, 0};
    fake_server *server = fake_server_start(&silence);
    chs_transport *transport = open_transport(fake_server_url(server), NULL);
    chs_call call = CHS_CALL_INIT;

    call.timeout_ms = 100;
    ck_assert_int_eq(chs_ping(transport, &call, &err), CHS_ERR_TIMEOUT);
    ck_assert_int_eq(chs_error_retry(&err), CHS_RETRY_SAME_TOKEN);
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

static atomic_bool ended;

static void *cancel_until_ended(void *context)
{
    while (!atomic_load(&ended)) {
        chs_cancel(context);
        (void)sched_yield();
    }
    return NULL;
}

START_TEST(a_silent_server_can_be_left)
{
    static const fake_answer silence = {NULL, 0, 0};
    fake_server *server = fake_server_start(&silence);
    chs_transport *transport = open_transport(fake_server_url(server), NULL);
    pthread_t canceller;

    ck_assert_int_eq(pthread_create(&canceller, NULL, cancel_until_ended, transport), 0);
    ck_assert_int_eq(chs_ping(transport, NULL, &err), CHS_ERR_CANCELLED);
    atomic_store(&ended, true);
    ck_assert_int_eq(pthread_join(canceller, NULL), 0);
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(nobody_listens)
{
    static const fake_answer answer = ANSWER(HEAD_200 "Content-Length: 0\r\n\r\n");
    fake_server *server = fake_server_start(&answer);
    char url[64];
    chs_transport *transport;

    (void)snprintf(url, sizeof url, "%s", fake_server_url(server));
    fake_server_stop(server);
    transport = open_transport(url, NULL);
    ck_assert_int_eq(chs_ping(transport, NULL, &err), CHS_ERR_NETWORK);
    ck_assert_ptr_nonnull(strstr(err.message, url));
    chs_transport_close(transport);
}
END_TEST

START_TEST(keeps_its_connection_and_its_secret)
{
    static const fake_answer answer = ANSWER(HEAD_200 "Content-Length: 0\r\n\r\n");
    fake_server *server = fake_server_start(&answer);
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_param param = {"p", CHS_PARAM_SCALAR, "a&b=c d", NULL, 0};
    chs_setting setting = {"max_threads", "2"};
    chs_call call = CHS_CALL_INIT;
    chs_transport *transport;
    char head[8192], body[64] = "";

    options.user = "alice";
    options.password = "top-secret";
    options.database = "d b";
    transport = open_transport(fake_server_url(server), &options);
    call.params = &param;
    call.param_count = 1;
    call.settings = &setting;
    call.setting_count = 1;
    OK(chs_ping(transport, NULL, &err));
    OK(chs_exec(transport, "SELECT {p:String}", &call, &err));
    ck_assert_uint_eq(fake_server_requests(server), 2);
    ck_assert_uint_eq(fake_server_connections(server), 1);
    (void)fake_server_last(server, head, sizeof head, body, sizeof body - 1);
    ck_assert_str_eq(body, "SELECT {p:String}");
    ck_assert_ptr_nonnull(strstr(head, "POST /?database=d%20b&"));
    ck_assert_ptr_nonnull(strstr(head, "&max_threads=2&"));
    ck_assert_ptr_nonnull(strstr(head, "&param_p=a%26b%3Dc%20d HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(head, "\r\nX-ClickHouse-User: alice\r\n"));
    ck_assert_ptr_nonnull(strstr(head, "\r\nX-ClickHouse-Key: top-secret\r\n"));
    *strchr(head, '\r') = '\0'; /* the request line */
    ck_assert_ptr_null(strstr(head, "secret"));
    ck_assert_ptr_null(strstr(head, "alice"));
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(sends_a_block_with_its_token)
{
    static const fake_answer answer = ANSWER(HEAD_200 "Content-Length: 0\r\n\r\n");
    static const char *const columns[] = {"n"};
    fake_server *server = fake_server_start(&answer);
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    chs_transport *transport;
    char head[8192], body[64];

    options.request_compression = CHS_COMPRESSION_NONE;
    transport = open_transport(fake_server_url(server), &options);
    request.table = "t";
    request.columns = columns;
    request.column_count = 1;
    request.block.data = BLOCK;
    request.block.length = sizeof BLOCK - 1;
    request.token = "batch/t";
    OK(chs_insert(transport, &request, NULL, &err));
    ck_assert_uint_eq(fake_server_last(server, head, sizeof head, body, sizeof body),
                      sizeof BLOCK - 1);
    ck_assert_mem_eq(body, BLOCK, sizeof BLOCK - 1);
    ck_assert_ptr_nonnull(
        strstr(head, "&query=INSERT%20INTO%20%60t%60%20%28%60n%60%29%20FORMAT%20Native"));
    ck_assert_ptr_nonnull(strstr(head, "&insert_deduplication_token=batch%2Ft"));
    ck_assert_ptr_nonnull(strstr(head, "&deduplicate_blocks_in_dependent_materialized_views=1"));
    ck_assert_ptr_nonnull(strstr(head, "&async_insert=0"));
    ck_assert_ptr_null(strstr(head, "Content-Encoding"));
    ck_assert_ptr_null(strstr(head, "Expect"));
    chs_transport_close(transport);
    fake_server_stop(server);
}
END_TEST

START_TEST(refuses_parameters_beyond_a_url)
{
    static char text[1 << 20];
    chs_param param = {"p", CHS_PARAM_SCALAR, text, NULL, 0};
    chs_call call = CHS_CALL_INIT;
    chs_transport *transport = open_transport("http://127.0.0.1:9", NULL);

    memset(text, 'x', sizeof text - 1);
    call.params = &param;
    call.param_count = 1;
    ck_assert_int_eq(chs_exec(transport, "x", &call, &err), CHS_ERR_LIMIT);
    chs_transport_close(transport);
}
END_TEST

START_TEST(refuses_bad_options)
{
    static const char *const urls[] = {NULL,
                                       "",
                                       "localhost:8123",
                                       "ftp://x",
                                       "http://user:pw@x",
                                       "http://x/?a=b",
                                       "http://x\r\nEvil: 1"};
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_transport *transport;
    size_t i;

    for (i = 0; i < sizeof urls / sizeof *urls; i++) {
        options.url = urls[i];
        ck_assert_int_eq(chs_http_open(&transport, &options, &err), CHS_ERR_USAGE);
        ck_assert_ptr_null(transport);
    }
    options.url = "http://x";
    options.password = "a\r\nEvil: 1";
    ck_assert_int_eq(chs_http_open(&transport, &options, &err), CHS_ERR_USAGE);
    ck_assert_ptr_null(strstr(err.message, "Evil"));
}
END_TEST

/* Runs in several threads, each with its own transport. */
static void *query_often(void *context)
{
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_transport *transport;
    uint64_t *sum = context;
    const char *url = (const char *)(uintptr_t)*sum;
    int i;

    *sum = 0;
    options.url = url;
    if (chs_http_open(&transport, &options, NULL) != 0)
        return NULL;
    for (i = 0; i < 50; i++)
        if (chs_query(transport, "SELECT 1", NULL, sum_rows, sum, NULL) != 0)
            *sum = 0;
    chs_transport_close(transport);
    return NULL;
}

START_TEST(threads_use_transports_side_by_side)
{
    enum { THREADS = 4 };
    static const fake_answer answer = ANSWER(HEAD_200 "Content-Length: 12\r\n\r\n" BLOCK);
    fake_server *server = fake_server_start(&answer);
    pthread_t threads[THREADS];
    uint64_t sums[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        sums[i] = (uint64_t)(uintptr_t)fake_server_url(server);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, query_often, &sums[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(sums[i], 750 /* 50 answers of 7 + 8 */);
    }
    fake_server_stop(server);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-http");
    TCase *tcase = tcase_create("http");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, takes_each_answer_for_what_it_is, 0, ROWS(answer_rows));
    tcase_add_test(tcase, an_exception_in_a_200_fails_an_insert);
    tcase_add_test(tcase, an_answer_has_its_limit);
    tcase_add_test(tcase, a_silent_server_times_out);
    tcase_add_test(tcase, a_silent_server_can_be_left);
    tcase_add_test(tcase, nobody_listens);
    tcase_add_test(tcase, keeps_its_connection_and_its_secret);
    tcase_add_test(tcase, sends_a_block_with_its_token);
    tcase_add_test(tcase, refuses_parameters_beyond_a_url);
    tcase_add_test(tcase, refuses_bad_options);
    tcase_add_test(tcase, threads_use_transports_side_by_side);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
