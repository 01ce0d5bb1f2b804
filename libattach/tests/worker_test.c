/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the worker's messages: written messages can be read again, and any others are refused
 * safely. */
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <attach/examine.h>
#include <attach/worker.h>

static attach_request request;
static uint8_t bytes[ATTACH_REQUEST_MAX];

static void setup(void)
{
    memset(&request, 0, sizeof(request));
    request.op = ATTACH_OP_START;
    request.identity = (attach_identity){"11111111-2222-3333-4444-555555555555", 42, UINT64_MAX};
    request.timeout_ms = 30000;
    (void)snprintf(request.proc_root, sizeof(request.proc_root), "/host/proc");
    (void)snprintf(request.installation_id, sizeof(request.installation_id), "abc1");
    (void)snprintf(request.library, sizeof(request.library), "/usr/lib/libasyncProfiler.so");
    request.engine = ATTACH_AP_ENGINE_ITIMER;
    request.cpu_interval_ns = 1;
    request.alloc_bytes = UINT64_MAX;
    request.lock_ns = 1000000;
    request.memlimit_bytes = 1 << 26;
    request.rate_limit = 12345;
    request.wall_ns = 50000000;
    request.nativemem_bytes = 65536;
    request.live = true;
    request.offset = 77;
    request.settled = 66;
    request.max_seconds = 3600;
    request.recorder = ATTACH_AP_RECORDER_JFR;
    (void)snprintf(request.owner, sizeof(request.owner), "hotstack profile (pid 17)");
    request.n_args = 3;
    (void)snprintf(request.args[0], sizeof(request.args[0]), "one");
    memset(request.args[2], 'x', ATTACH_ARG_MAX);
    request.n_dirs = 2;
    (void)snprintf(request.dirs[0], sizeof(request.dirs[0]), "/data");
    (void)snprintf(request.dirs[1], sizeof(request.dirs[1]), "/more");
}

START_TEST(request_survives)
{
    static uint8_t again[ATTACH_REQUEST_MAX];
    attach_request got;
    size_t n = 0, body = 0, again_n = 0;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_request_body_length(&body, bytes, NULL), ATTACH_OK);
    ck_assert_uint_eq(body, n - ATTACH_REQUEST_HEADER);
    ck_assert_int_eq(attach_request_decode(&got, bytes, n, NULL), ATTACH_OK);
    ck_assert_int_eq(got.op, ATTACH_OP_START);
    ck_assert_uint_eq(got.identity.start_ticks, UINT64_MAX);
    ck_assert_uint_eq(got.n_args, 3);
    ck_assert_str_eq(got.args[2], request.args[2]);
    ck_assert_str_eq(got.dirs[1], "/more");
    ck_assert_int_eq(got.recorder, ATTACH_AP_RECORDER_JFR);
    ck_assert_uint_eq(got.rate_limit, 12345);
    ck_assert_uint_eq(got.settled, 66);
    ck_assert_uint_eq(got.wall_ns, 50000000);
    ck_assert_uint_eq(got.nativemem_bytes, 65536);
    ck_assert(got.live);
    ck_assert_str_eq(got.owner, request.owner);
    ck_assert_int_eq(attach_request_encode(again, sizeof(again), &again_n, &got, NULL), ATTACH_OK);
    ck_assert_uint_eq(again_n, n);
    ck_assert_mem_eq(again, bytes, n);
}
END_TEST

START_TEST(snapshot_request_survives)
{
    attach_request got;
    size_t n = 0;
    request.op = ATTACH_OP_THREADS;
    (void)snprintf(request.lease_id, sizeof(request.lease_id), "cli1");
    request.threads_flags = ATTACH_THREADS_FULL | ATTACH_THREADS_NATIVE_IDS;
    request.max_threads = 1;
    request.max_stacks = UINT32_MAX;
    request.max_depth = 3;
    request.max_bytes = 4;
    request.lease_ms = 5;
    request.pause_ms = 6;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_request_decode(&got, bytes, n, NULL), ATTACH_OK);
    ck_assert_int_eq(got.op, ATTACH_OP_THREADS);
    ck_assert_str_eq(got.lease_id, "cli1");
    ck_assert_uint_eq(got.threads_flags, request.threads_flags);
    ck_assert_uint_eq(got.max_threads, 1);
    ck_assert_uint_eq(got.max_stacks, UINT32_MAX);
    ck_assert_uint_eq(got.max_depth, 3);
    ck_assert_uint_eq(got.max_bytes, 4);
    ck_assert_uint_eq(got.lease_ms, 5);
    ck_assert_uint_eq(got.pause_ms, 6);
    request.library[0] = '\0';
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL),
                     ATTACH_ERR_USAGE);
    request.op = ATTACH_OP_THREADS_CLOSE; /* loads nothing */
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    request.op = (attach_op)(ATTACH_OP_DISCARD + 1);
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL),
                     ATTACH_ERR_USAGE);
}
END_TEST

START_TEST(largest_request_fits)
{
    size_t n = 0;
    memset(request.proc_root, 'p', sizeof(request.proc_root) - 1);
    memset(request.library, 'l', sizeof(request.library) - 1);
    for (int i = 0; i < ATTACH_COMMAND_ARGS; i++)
        memset(request.args[i], 'a', ATTACH_ARG_MAX);
    request.n_dirs = ATTACH_REQUEST_DIRS;
    for (int i = 0; i < ATTACH_REQUEST_DIRS; i++)
        memset(request.dirs[i], 'd', ATTACH_REQUEST_PATH_MAX - 1);
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_request_encode(bytes, n - 1, &n, &request, NULL), ATTACH_ERR_LIMIT);
    ck_assert_int_eq(attach_request_encode(bytes, 7, &n, &request, NULL), ATTACH_ERR_LIMIT);
}
END_TEST

START_TEST(examination_survives)
{
    char text[ATTACH_EXAMINE_TEXT_MAX], again[ATTACH_EXAMINE_TEXT_MAX];
    attach_examination wanted = {.listener = true,
                                 .jfr_used = true,
                                 .seccomp = 2,
                                 .perf_event_paranoid = -1,
                                 .n_places = 2,
                                 .places = {{"/tmp", "noexec", ""}, {"/data", "", ""}}};
    attach_examination got;
    attach_error err = {0};
    size_t n = attach_examination_format(text, &wanted);
    ck_assert_int_eq(attach_examination_parse(&got, text, n, NULL), ATTACH_OK);
    ck_assert_uint_eq(attach_examination_format(again, &got), n);
    ck_assert_str_eq(again, text);
    ck_assert_str_eq(got.places[0].library, "noexec");
    ck_assert_str_eq(got.places[1].recording, "");
    ck_assert_int_eq(got.perf_event_paranoid, -1);
    ck_assert_int_eq(attach_examination_parse(&got, "listener 1\njfr_used x\n", 22, &err),
                     ATTACH_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 11);
}
END_TEST

START_TEST(encoding_names_the_bad_field)
{
    size_t n = 0;
    attach_error err = {0};
    attach_request bad = request;
    bad.timeout_ms = 0;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &bad, &err), ATTACH_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "timeout_ms"));
    bad = request;
    bad.installation_id[0] = '/';
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &bad, &err), ATTACH_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "installation_id"));
    bad = request;
    bad.op = ATTACH_OP_COMMAND;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &bad, &err), ATTACH_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "command"));
    bad = request;
    bad.recorder = (attach_ap_recorder)3;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &bad, &err), ATTACH_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "recorder"));
    bad = request;
    bad.identity.pid = 0;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &bad, &err), ATTACH_ERR_USAGE);
}
END_TEST

START_TEST(cut_requests_are_refused)
{
    attach_request got;
    size_t n = 0;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    for (size_t cut = 0; cut < n; cut++)
        ck_assert_int_eq(attach_request_decode(&got, bytes, cut, NULL), ATTACH_ERR_FORMAT);
}
END_TEST

START_TEST(any_byte_may_be_wrong)
{
    attach_request got;
    size_t n = 0;
    ck_assert_int_eq(attach_request_encode(bytes, sizeof(bytes), &n, &request, NULL), ATTACH_OK);
    for (size_t at = 0; at < n; at++) {
        uint8_t *copy = malloc(n); /* exact size: ASan and valgrind see a read beyond */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, n);
        copy[at] ^= 0xff;
        int rc = attach_request_decode(&got, copy, n, NULL);
        ck_assert(rc == ATTACH_OK || rc == ATTACH_ERR_FORMAT || rc == ATTACH_ERR_LIMIT);
        free(copy);
    }
}
END_TEST

START_TEST(lengths_are_bounded)
{
    static const uint8_t huge[] = {'H', 'S', 'A', '1', 0xff, 0xff, 0xff, 0x7f};
    static const uint8_t other[] = {'H', 'T', 'T', 'P', 0, 0, 0, 0};
    static const uint8_t frame[] = {1, 0, 0, 0, 1, 0, 0x10, 0};
    static const uint8_t no_type[] = {9, 0, 0, 0, 1, 0, 0, 0};
    attach_frame_type type;
    size_t n = 0;
    uint8_t header[ATTACH_FRAME_HEADER];
    ck_assert_int_eq(attach_request_body_length(&n, huge, NULL), ATTACH_ERR_LIMIT);
    ck_assert_int_eq(attach_request_body_length(&n, other, NULL), ATTACH_ERR_FORMAT);
    ck_assert_int_eq(attach_answer_header_decode(&type, &n, frame, NULL), ATTACH_ERR_LIMIT);
    ck_assert_int_eq(attach_answer_header_decode(&type, &n, no_type, NULL), ATTACH_ERR_FORMAT);
    ck_assert_int_eq(
        attach_answer_header_encode(header, ATTACH_FRAME_DATA, ATTACH_PIECE_MAX + 1, NULL),
        ATTACH_ERR_USAGE);
    ck_assert_int_eq(attach_answer_header_encode(header, ATTACH_FRAME_DATA, ATTACH_PIECE_MAX, NULL),
                     ATTACH_OK);
    ck_assert_int_eq(attach_answer_header_decode(&type, &n, header, NULL), ATTACH_OK);
    ck_assert_int_eq(type, ATTACH_FRAME_DATA);
    ck_assert_uint_eq(n, ATTACH_PIECE_MAX);
}
END_TEST

static attach_result a_result(void)
{
    attach_result r = {.code = ATTACH_ERR_TARGET,
                       .reason = ATTACH_REASON_NO_EXEC_DIR,
                       .message = "no place",
                       .reply_code = -1,
                       .bytes = 12345};
    r.info = (attach_ap_info){.state = ATTACH_AP_ADOPTED,
                              .running = true,
                              .engine = ATTACH_AP_ENGINE_CTIMER,
                              .engine_reason = "because",
                              .started_ms = 1700000000000,
                              .offset = UINT64_MAX,
                              .directory = "/tmp/x",
                              .absent = ATTACH_AP_LIVE | ATTACH_AP_CPU,
                              .absent_reason = "live: why",
                              .dropped = 17};
    return r;
}

START_TEST(result_survives)
{
    uint8_t again[2048];
    attach_result wanted = a_result(), got;
    size_t n = 0, again_n = 0;
    ck_assert_int_eq(attach_answer_result_encode(bytes, 2048, &n, &wanted, NULL), ATTACH_OK);
    ck_assert_int_eq(attach_answer_result_decode(&got, bytes, n, NULL), ATTACH_OK);
    ck_assert_int_eq(got.reason, ATTACH_REASON_NO_EXEC_DIR);
    ck_assert_int_eq(got.reply_code, -1);
    ck_assert_uint_eq(got.info.offset, UINT64_MAX);
    ck_assert_uint_eq(got.info.absent, ATTACH_AP_LIVE | ATTACH_AP_CPU);
    ck_assert_str_eq(got.info.absent_reason, "live: why");
    ck_assert_uint_eq(got.info.dropped, 17);
    ck_assert_int_eq(attach_answer_result_encode(again, sizeof(again), &again_n, &got, NULL),
                     ATTACH_OK);
    ck_assert_uint_eq(again_n, n);
    ck_assert_mem_eq(again, bytes, n);
    ck_assert_int_eq(attach_answer_result_encode(bytes, n - 1, &n, &wanted, NULL),
                     ATTACH_ERR_LIMIT);
    ck_assert_int_eq(attach_answer_result_decode(&got, bytes, 0, NULL), ATTACH_OK);
    ck_assert_int_eq(got.code, ATTACH_OK);
}
END_TEST

START_TEST(bad_results_are_refused)
{
    attach_result wanted = a_result(), got;
    size_t n = 0;
    ck_assert_int_eq(attach_answer_result_encode(bytes, 2048, &n, &wanted, NULL), ATTACH_OK);
    for (size_t at = 0; at < n; at++) {
        uint8_t *copy = malloc(n);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, n);
        copy[at] ^= 0xff;
        int rc = attach_answer_result_decode(&got, copy, n, NULL);
        ck_assert(rc == ATTACH_OK || rc == ATTACH_ERR_FORMAT);
        free(copy);
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("worker");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, request_survives);
    tcase_add_test(tc, snapshot_request_survives);
    tcase_add_test(tc, largest_request_fits);
    tcase_add_test(tc, examination_survives);
    tcase_add_test(tc, encoding_names_the_bad_field);
    tcase_add_test(tc, cut_requests_are_refused);
    tcase_add_test(tc, any_byte_may_be_wrong);
    tcase_add_test(tc, lengths_are_bounded);
    tcase_add_test(tc, result_survives);
    tcase_add_test(tc, bad_results_are_refused);
    Suite *suite = suite_create("worker");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
