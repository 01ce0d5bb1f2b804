/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the gate row by row: what it accepts, what it refuses, and with which code. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <http/gate.h>

#include "run_suite.h"

#define GET  "GET /x HTTP/1.1\r\n"
#define POST "POST /x HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define END  "\r\n"

static const struct {
    const char *head;
    size_t length; /* 0: strlen */
    int status;
    const char *code;
} refused[] = {
    {POST HOST "Content-Length: 5\r\nContent-Length: 5\r\n" END, 0, 400, "repeated_field"},
    {POST HOST "Content-Length: 5\r\ncontent-length: 6\r\n" END, 0, 400, "repeated_field"},
    {POST HOST "Content-Length: 5, 5\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: +5\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: 0x5\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: -1\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length:\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: 5 5\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: 18446744073709551621\r\n" END, 0, 400, "bad_content_length"},
    {POST HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" END, 0, 400, "two_framings"},
    {POST HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END, 0, 400, "two_framings"},
    {POST HOST "Transfer-Encoding: gzip, chunked\r\n" END, 0, 501, "unknown_coding"},
    {POST HOST "Transfer-Encoding: identity\r\n" END, 0, 501, "unknown_coding"},
    {POST HOST "Transfer-Encoding: xchunked\r\n" END, 0, 501, "unknown_coding"},
    {POST HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END, 0, 400,
     "repeated_field"},
    {POST HOST "Transfer-Encoding: \x0b"
               "chunked\r\n" END,
     0, 400, "control_byte"},
    {GET HOST HOST END, 0, 400, "repeated_field"},
    {GET HOST "host: b\r\n" END, 0, 400, "repeated_field"},
    {GET END, 0, 400, "bad_host"},
    {GET "Host:\r\n" END, 0, 400, "bad_host"},
    {GET "Host: a/b\r\n" END, 0, 400, "bad_host"},
    {GET "Host: a@b\r\n" END, 0, 400, "bad_host"},
    {GET "Host: a, b\r\n" END, 0, 400, "bad_host"},
    {GET "Host : a\r\n" END, 0, 400, "bad_field_name"},
    {GET HOST "Content-Length : 5\r\n" END, 0, 400, "bad_field_name"},
    {GET HOST ": nameless\r\n" END, 0, 400, "bad_field_name"},
    {GET HOST "no colon\r\n" END, 0, 400, "bad_field_name"},
    {GET HOST "X\x80: high byte in name\r\n" END, 0, 400, "bad_field_name"},
    {GET HOST "X: a\r\n folded\r\n" END, 0, 400, "folded_field"},
    {GET HOST "X: a\r\n\tfolded\r\n" END, 0, 400, "folded_field"},
    {GET " Host: a\r\n" END, 0, 400, "folded_field"},
    {"GET /x HTTP/1.1\nHost: a\n\n", 0, 400, "bare_lf"},
    {GET "Host: a\n" END, 0, 400, "bare_lf"},
    {GET HOST "X: a\rb\r\n" END, 0, 400, "bare_cr"},
    {GET HOST "X: a\r\r\n" END, 0, 400, "bare_cr"},
    {GET "Host: a\0b\r\n" END, sizeof(GET "Host: a\0b\r\n" END) - 1, 400, "nul_byte"},
    {"GET /\0 HTTP/1.1\r\n" HOST END, sizeof("GET /\0 HTTP/1.1\r\n" HOST END) - 1, 400, "nul_byte"},
    {GET HOST "X: \x7f\r\n" END, 0, 400, "control_byte"},
    {"GET http://a/x HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET HTTP://a/x HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"OPTIONS * HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"CONNECT a:443 HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /a#b HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /a\\b HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /\xc3\xa4 HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /a\tb HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /%4 HTTP/1.1\r\n" HOST END, 0, 400, "bad_escape"},
    {"GET /%zz HTTP/1.1\r\n" HOST END, 0, 400, "bad_escape"},
    {"GET /% HTTP/1.1\r\n" HOST END, 0, 400, "bad_escape"},
    {"GET /a%00b HTTP/1.1\r\n" HOST END, 0, 400, "bad_escape"},
    {"GET  /x HTTP/1.1\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /x  HTTP/1.1\r\n" HOST END, 0, 400, "bad_request_line"},
    {"GET /x HTTP/1.1 \r\n" HOST END, 0, 505, "bad_version"},
    {"GET /x\r\n" HOST END, 0, 400, "bad_target"},
    {"GET /x HTTP/1.0\r\n" HOST END, 0, 505, "bad_version"},
    {"GET /x HTTP/2.0\r\n" HOST END, 0, 505, "bad_version"},
    {"GET /x http/1.1\r\n" HOST END, 0, 400, "bad_request_line"},
    {"\r\n" GET HOST END, 0, 400, "bad_request_line"},
    {" GET /x HTTP/1.1\r\n" HOST END, 0, 400, "bad_request_line"},
    {"\r\n\r\n", 0, 400, "bad_request_line"},
    {"G(T /x HTTP/1.1\r\n" HOST END, 0, 400, "bad_request_line"},
    {"ABCDEFGHIJKLMNOPQ /x HTTP/1.1\r\n" HOST END, 0, 400, "bad_request_line"},
    {GET HOST "Content-Length: 5\r\n" END, 0, 400, "body_not_allowed"},
    {GET HOST "Transfer-Encoding: chunked\r\n" END, 0, 400, "body_not_allowed"},
    {"post /x HTTP/1.1\r\n" HOST "Content-Length: 5\r\n" END, 0, 400, "body_not_allowed"},
    {POST HOST "Expect: 200-ok\r\n" END, 0, 417, "bad_expect"},
    {GET HOST "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n" END, 0, 400,
     "repeated_field"},
    {GET HOST "Cookie: a=1\r\nCookie: a=2\r\n" END, 0, 400, "repeated_field"},
    {POST HOST "Content-Encoding: zstd\r\nContent-Encoding: identity\r\n" END, 0, 400,
     "repeated_field"},
};

static const struct {
    const char *head;
    http_framing framing;
    uint64_t length;
    bool close;
} passed[] = {
    {GET HOST END, HTTP_FRAMING_NONE, 0, false},
    {"GET /a/b;c=1/%41?q=%2F+&x=%C3%A4 HTTP/1.1\r\n" HOST END, HTTP_FRAMING_NONE, 0, false},
    {GET "Host:a:80\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {GET "Host: [::1]:80 \t\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {GET HOST "X:\r\nY: \xc3\xa4\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {GET HOST "Accept: a\r\nAccept: b\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {GET HOST "Connection: keep-alive, Close\r\n" END, HTTP_FRAMING_NONE, 0, true},
    {GET HOST "Connection: closed\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {GET HOST "Content-Length: 0\r\n" END, HTTP_FRAMING_NONE, 0, false},
    {POST HOST "Content-Length: 000123\r\n" END, HTTP_FRAMING_LENGTH, 123, false},
    {POST HOST "Content-Length: 999999999999999999\r\n" END, HTTP_FRAMING_LENGTH,
     999999999999999999, false},
    {POST HOST "Transfer-Encoding:  Chunked\r\n" END, HTTP_FRAMING_CHUNKED, 0, false},
    {POST HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n" END, HTTP_FRAMING_LENGTH, 1, false},
    {"DELETE /x HTTP/1.1\r\n" HOST END, HTTP_FRAMING_NONE, 0, false},
};

/* Copies the bytes to memory of exactly their size, so that a sanitiser detects a read past the
 * end. */
static int read_exact(http_gate_head *head, const char *bytes, size_t length, size_t seen,
                      const http_gate_limits *limits, http_refusal *why)
{
    char *copy = malloc(length > 0 ? length : 1);
    memcpy(copy, bytes, length);
    int rc = http_gate_read_head(head, copy, length, seen, limits, why);
    free(copy);
    return rc;
}

START_TEST(test_refused)
{
    http_gate_head head;
    http_refusal why = {0};
    size_t length = refused[_i].length > 0 ? refused[_i].length : strlen(refused[_i].head);

    int rc = read_exact(&head, refused[_i].head, length, 0, NULL, &why);
    ck_assert_msg(rc == HTTP_GATE_REFUSED, "row %d passed: %s", _i, refused[_i].head);
    ck_assert_str_eq(why.code, refused[_i].code);
    ck_assert_int_eq(why.status, refused[_i].status);
    ck_assert_uint_le(why.offset, length);
}
END_TEST

START_TEST(test_refused_byte_by_byte)
{
    http_gate_head head;
    http_refusal why = {0};
    size_t length = refused[_i].length > 0 ? refused[_i].length : strlen(refused[_i].head);
    int rc = HTTP_GATE_MORE;

    for (size_t i = 1; i <= length && rc == HTTP_GATE_MORE; i++)
        rc = read_exact(&head, refused[_i].head, i, i - 1, NULL, &why);
    ck_assert_int_eq(rc, HTTP_GATE_REFUSED);
    ck_assert_str_eq(why.code, refused[_i].code);
}
END_TEST

START_TEST(test_passed)
{
    http_gate_head head;
    http_refusal why = {0};
    size_t length = strlen(passed[_i].head);

    for (size_t i = 0; i < length; i++)
        ck_assert_int_eq(read_exact(&head, passed[_i].head, i, 0, NULL, &why), HTTP_GATE_MORE);
    int rc = read_exact(&head, passed[_i].head, length, 0, NULL, &why);
    ck_assert_msg(rc == (int)length, "row %d: %s", _i, rc == HTTP_GATE_REFUSED ? why.code : "?");
    ck_assert_int_eq(head.framing, passed[_i].framing);
    ck_assert_uint_eq(head.content_length, passed[_i].length);
    ck_assert_int_eq(head.close, passed[_i].close);
}
END_TEST

START_TEST(test_what_follows_is_not_looked_at)
{
    static const char bytes[] = POST HOST "Content-Length: 3\r\n" END "\0\n\r" GET;
    http_gate_head head;
    http_refusal why;

    int rc = read_exact(&head, bytes, sizeof(bytes) - 1, 0, NULL, &why);
    ck_assert_int_eq(rc, (int)strlen(POST HOST "Content-Length: 3\r\n" END));
}
END_TEST

START_TEST(test_limits)
{
    const http_gate_limits limits = {64, 8, 2};
    http_gate_head head;
    http_refusal why = {0};
    char long_head[128];

    memset(long_head, 'a', sizeof(long_head));
    ck_assert_int_eq(read_exact(&head, long_head, 64, 0, &limits, &why), HTTP_GATE_MORE);
    ck_assert_int_eq(read_exact(&head, long_head, 65, 64, &limits, &why), HTTP_GATE_REFUSED);
    ck_assert_int_eq(why.status, 431);
    static const char target[] = "GET /12345678 HTTP/1.1\r\n" HOST END;
    ck_assert_int_eq(read_exact(&head, target, strlen(target), 0, &limits, &why),
                     HTTP_GATE_REFUSED);
    ck_assert_int_eq(why.status, 414);
    static const char fields[] = GET HOST "A: 1\r\nB: 2\r\n" END;
    ck_assert_int_eq(read_exact(&head, fields, strlen(fields), 0, &limits, &why),
                     HTTP_GATE_REFUSED);
    ck_assert_str_eq(why.code, "too_many_fields");
}
END_TEST

static const struct {
    const char *body;
    int taken; /* HTTP_GATE_REFUSED, or bytes */
    bool done;
    const char *code;
    uint64_t payload;
} chunked_rows[] = {
    {"0\r\n\r\n", 5, true, NULL, 0},
    {"3\r\nabc\r\n0\r\n\r\nGET", 13, true, NULL, 3},
    {"00000003\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", 35, true, NULL, 13},
    {"a\r\n01234", 8, false, NULL, 10},
    {"", 0, false, NULL, 0},
    {"3;ext=1\r\nabc\r\n0\r\n\r\n", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"3 \r\nabc\r\n0\r\n\r\n", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {" 3\r\nabc\r\n0\r\n\r\n", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"0x3\r\nabc", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"-3\r\nabc", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"\r\n", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"000000003\r\nabc", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"3\nabc\n0\n\n", HTTP_GATE_REFUSED, false, "bad_chunk_size", 0},
    {"3\r\nabcd\r\n", HTTP_GATE_REFUSED, false, "bad_chunk", 3},
    {"3\r\nabc\n0\r\n\r\n", HTTP_GATE_REFUSED, false, "bad_chunk", 3},
    {"3\rXabc", HTTP_GATE_REFUSED, false, "bad_chunk", 3},
    {"0\r\nTrailer: x\r\n\r\n", HTTP_GATE_REFUSED, false, "bad_chunk", 0},
    {"0\r\n\n", HTTP_GATE_REFUSED, false, "bad_chunk", 0},
    {"15\r\n", HTTP_GATE_REFUSED, false, "payload_too_large", 0},
    {"14\r\n01234567890123456789\r\n1\r\n", HTTP_GATE_REFUSED, false, "payload_too_large", 20},
    {"ffffffff\r\n", HTTP_GATE_REFUSED, false, "payload_too_large", 0},
};

START_TEST(test_chunked)
{
    const char *body = chunked_rows[_i].body;
    http_chunked chunked = HTTP_CHUNKED_INIT, slow = HTTP_CHUNKED_INIT;
    http_refusal why = {0};
    bool done = false;

    ck_assert_int_eq(http_chunked_feed(&chunked, body, strlen(body), 20, &done, &why),
                     chunked_rows[_i].taken);
    ck_assert_int_eq(done, chunked_rows[_i].done);
    ck_assert_uint_eq(chunked.payload, chunked_rows[_i].payload);
    if (chunked_rows[_i].code != NULL)
        ck_assert_str_eq(why.code, chunked_rows[_i].code);

    /* One byte at a time gives the same result. */
    int taken = 0, rc = 0;
    done = false;
    for (const char *p = body; *p != '\0' && !done && rc >= 0; p++) {
        rc = http_chunked_feed(&slow, p, 1, 20, &done, &why);
        taken = rc < 0 ? rc : taken + rc;
    }
    ck_assert_int_eq(taken, chunked_rows[_i].taken);
    ck_assert_int_eq(done, chunked_rows[_i].done);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http-gate");
    TCase *tcase = tcase_create("gate");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, test_refused, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_loop_test(tcase, test_refused_byte_by_byte, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_loop_test(tcase, test_passed, 0, sizeof(passed) / sizeof(passed[0]));
    tcase_add_test(tcase, test_what_follows_is_not_looked_at);
    tcase_add_test(tcase, test_limits);
    tcase_add_loop_test(tcase, test_chunked, 0, sizeof(chunked_rows) / sizeof(chunked_rows[0]));
    return run_suite(suite);
}
