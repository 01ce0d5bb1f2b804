/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the pure parts of the adapters: wire form, memory budget, decompression, times, session
 * bodies. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "inflate.h"
#include "ingest.pb-c.h"
#include "pacing.h"
#include "query_params.h"
#include "room.h"
#include "run_suite.h"
#include "session_body.h"
#include "verdict_status.h"
#include <contract/wire/decode.h>
#include <contract/wire/form.h>

static const struct {
    const char *bytes;
    size_t length;
    const char *problem; /* NULL: the form is valid; else a part of the message */
} wires[] = {
    {"", 0, NULL},
    {"\x0a\x02"
     "ab",
     4, NULL}, /* batch_id */
    {"\x0a\x01"
     "a\x0a\x01"
     "b",
     6, "twice"},                 /* batch_id again */
    {"\x08\x01", 2, "wire type"}, /* batch_id as a number */
    {"\x0a\x05"
     "ab",
     4, "beyond"},                                    /* cut short */
    {"\x0a", 1, "varint"},                            /* no length */
    {"\x03\x01", 2, "number 0"},                      /* field 0 */
    {"\x0b\x0c", 2, "wire type"},                     /* a group, known number */
    {"\xa3\x06\xa4\x06", 4, "group"},                 /* a group, unknown number */
    {"\xa0\x06\x01", 3, NULL},                        /* an unknown field */
    {"\x22\x02\x10\x01", 4, "not packed"},            /* stacks.frame_class_str as one number */
    {"\x22\x03\x12\x01\x01", 5, NULL},                /* the same, packed */
    {"\x22\x06\x12\x01\x01\x12\x01\x02", 8, "twice"}, /* and in two pieces */
};

START_TEST(test_wire)
{
    const char *problem = NULL;
    size_t offset = 0;
    uint8_t *copy = malloc(wires[_i].length + 1);

    memcpy(copy, wires[_i].bytes, wires[_i].length);
    bool good = wire_check(&hotstack__v1__profile_batch__descriptor, copy, wires[_i].length,
                           &problem, &offset);
    free(copy);
    ck_assert_int_eq(good, wires[_i].problem == NULL);
    if (!good)
        ck_assert_msg(strstr(problem, wires[_i].problem) != NULL, "row %d: %s", _i, problem);
    ck_assert_uint_le(offset, wires[_i].length);
}
END_TEST

START_TEST(test_too_many_unknown_fields)
{
    uint8_t bytes[65 * 3];
    const char *problem = NULL;
    size_t offset;

    for (size_t i = 0; i < 65; i++)
        memcpy(bytes + 3 * i, "\xa0\x06\x01", 3);
    ck_assert(wire_check(&hotstack__v1__heartbeat__descriptor, bytes, 64 * 3, &problem, &offset));
    ck_assert(!wire_check(&hotstack__v1__heartbeat__descriptor, bytes, 65 * 3, &problem, &offset));
}
END_TEST

START_TEST(test_the_dearest_payload_fits_its_budget)
{
    /* Each value takes one byte on the wire and eight in memory. */
    static uint64_t ones[20000];
    Hotstack__V1__StatusReport report = HOTSTACK__V1__STATUS_REPORT__INIT;
    Hotstack__V1__TargetColumns targets = HOTSTACK__V1__TARGET_COLUMNS__INIT;
    proto_decoded *decoded = NULL;
    status_batch out;
    verdict v = {0};

    targets.start_ticks = targets.start_ms = ones;
    targets.n_start_ticks = targets.n_start_ms = 20000;
    report.targets = &targets;
    size_t length = hotstack__v1__status_report__get_packed_size(&report);
    uint8_t *bytes = malloc(length);
    hotstack__v1__status_report__pack(&report, bytes);
    ck_assert_msg(proto_decode_status(&decoded, &out, bytes, length, &v) == 0, "%s", v.message);
    ck_assert_uint_eq(out.targets.start_ticks.count, 20000);
    proto_decoded_free(decoded);
    free(bytes);
}
END_TEST

static int unpack(const void *data, size_t length, size_t limit, verdict *v)
{
    char *out = NULL;
    size_t out_length = 0;
    int rc = inflate_zstd(&out, &out_length, data, length, limit, v);

    free(out);
    return rc == 0 ? (int)out_length : rc;
}

START_TEST(test_inflate)
{
    static char plain[100000], packed[200000];
    verdict v = {0};

    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * i);
    size_t length = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 1);
    ck_assert_int_eq(unpack(packed, length, 100000, &v), 100000);
    ck_assert_int_eq(unpack(packed, length, 99999, &v), -1);
    ck_assert_str_eq(v.code, "payload_too_large");
    for (size_t cut = 0; cut < length; cut += 997) {
        ck_assert_int_eq(unpack(packed, cut, 100000, &v), -1);
        ck_assert_str_eq(v.code, "bad_compression");
    }
    packed[length] = 'x';
    ck_assert_int_eq(unpack(packed, length + 1, 100000, &v), -1);
    ck_assert_str_eq(v.code, "bad_compression");
}
END_TEST

/* A frame may not unpack to more than the room that was taken for it, whatever size it
 * announces. */
START_TEST(test_a_frame_gets_no_more_than_was_set_aside)
{
    static char plain[70000], packed[80000];
    verdict v = {0};

    size_t length = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 1);
    ck_assert_uint_eq(inflate_size(packed, length, 100000), 70000);
    ck_assert_uint_eq(inflate_size(packed, length, 60000), 60000);
    ck_assert_uint_eq(inflate_size("no frame", 8, 60000), 60000);
    /* The frame's size field has four bytes for 70,000; it now says 4,464. */
    ck_assert_int_eq((unsigned char)packed[4] >> 6, 2);
    packed[7] = packed[8] = 0;
    ck_assert_uint_lt(inflate_size(packed, length, 100000), 70000);
    ck_assert_int_eq(unpack(packed, length, inflate_size(packed, length, 100000), &v), -1);
}
END_TEST

/* Refuses so many callers; returns the answer to the last one. */
static uint32_t refuse(pacing *p, unsigned count, uint64_t now_ms)
{
    uint32_t wait_ms = 0;
    while (count-- > 0)
        wait_ms = pacing_refuse(p, now_ms);
    return wait_ms;
}

START_TEST(test_pacing)
{
    pacing p = PACING_INIT;
    /* A single refused caller comes back soon. */
    for (int i = 0; i < 20; i++)
        pacing_admit(&p, 5000);
    ck_assert_uint_eq(refuse(&p, 1, 5999), 1000);
    ck_assert_uint_eq(refuse(&p, 19, 5999), 1000);
    /* Of 200 callers at once, 20 are served per second: all are served after ten seconds. */
    ck_assert_uint_eq(refuse(&p, 180, 5999), 10000);
    /* The rate is unknown, or too low to wait for. */
    ck_assert_uint_eq(refuse(&p, 1, 7000), 1000);
    ck_assert_uint_eq(refuse(&p, 1, 9000), 1000);
    ck_assert_uint_eq(refuse(&p, 2, 9000), 3000);
    ck_assert_uint_eq(refuse(&p, 500, 9000), PACING_MOST_MS);
    /* Only the second before counts; after the clock was set back the count is new. */
    ck_assert_uint_eq(refuse(&p, 1, 10000), PACING_MOST_MS);
    ck_assert_uint_eq(refuse(&p, 1, 12000), 1000);
    ck_assert_uint_eq(refuse(&p, 1, 3000), 1000);
}
END_TEST

START_TEST(test_room)
{
    room r = {.most = 100};

    ck_assert(room_take(&r, 60));
    ck_assert(!room_take(&r, 41));
    ck_assert(!room_take(&r, SIZE_MAX));
    ck_assert(room_take(&r, 40));
    ck_assert(!room_take(&r, 1));
    room_give(&r, 60);
    ck_assert(room_take(&r, 60));
}
END_TEST

static const struct {
    const char *input;
    int rc;
    uint64_t ms;
} times[] = {
    {"0", 0, 0},
    {"1769850900000", 0, 1769850900000},
    {"2026-01-31T09:15:00Z", 0, 1769850900000},
    {"2026-01-31T09:15:00.25Z", 0, 1769850900250},
    {"2026-01-31T11:15:00+02:00", 0, 1769850900000},
    {"2026-01-31t04:15:00.000-05:00", 0, 1769850900000},
    {"", -1, 0},
    {"12x", -1, 0},
    {"-5", -1, 0},
    {"99999999999999999999", -1, 0},
    {"2026-01-31", -1, 0},
    {"2026-01-31T09:15:00", -1, 0},
    {"2026-01-31T24:15:00Z", -1, 0},
    {"2026-00-31T09:15:00Z", -1, 0},
    {"2026-01-31T09:15:00.Z", -1, 0},
    {"2026-01-31T09:15:00Zx", -1, 0},
    {"1969-12-31T23:59:59Z", -1, 0},
    {"9999-12-31T23:59:59Z", -1, 0},
};

START_TEST(test_time)
{
    uint64_t ms = 0;
    char printed[25];

    ck_assert_int_eq(query_time_parse(&ms, times[_i].input), times[_i].rc);
    if (times[_i].rc == 0)
        ck_assert_uint_eq(ms, times[_i].ms);
    query_time_print(printed, 1769850900250);
    ck_assert_str_eq(printed, "2026-01-31T09:15:00.250Z");
}
END_TEST

static const struct {
    const char *json;
    int rc;
} bodies[] = {
    {"{\"token\":\"abc\"}", 0},
    {" {\"code\": \"a\\u0062c\"} ", 0},
    {"", -1},
    {"[]", -1},
    {"{}", -1},
    {"null", -1},
    {"{\"token\":\"\"}", -1},
    {"{\"token\":5}", -1},
    {"{\"token\":\"a\",\"code\":\"b\"}", -1},
    {"{\"token\":\"a\",\"token\":\"b\"}", -1},
    {"{\"token\":\"a\"}x", -1},
    {"{\"token\":\"a\\u0000b\"}", -1},
    {"{\"other\":\"a\"}", -1},
};

START_TEST(test_session_body)
{
    session_body body;

    ck_assert_int_eq(session_body_parse(&body, bodies[_i].json, strlen(bodies[_i].json)),
                     bodies[_i].rc);
    if (bodies[_i].rc == 0)
        ck_assert_str_eq(body.token[0] != '\0' ? body.token : body.code, "abc");
}
END_TEST

static const struct {
    outcome outcome;
    const char *code;
    int status;
} statuses[] = {
    {OUTCOME_ACCEPTED, "", 200},
    {OUTCOME_DUPLICATE, "", 200},
    {OUTCOME_NEED_STACKS, "", 200},
    {OUTCOME_REJECTED, "malformed", 400},
    {OUTCOME_REJECTED, "digest_mismatch", 400},
    {OUTCOME_REJECTED, "batch_id_reused", 409},
    {OUTCOME_REJECTED, "payload_too_large", 413},
    {OUTCOME_REJECTED, "too_many_rows", 413},
    {OUTCOME_REJECTED, "window_too_old", 422},
    {OUTCOME_RETRY, "store_busy", 429},
    {OUTCOME_RETRY, "over_capacity", 429},
    {OUTCOME_RETRY, "store_unavailable", 503},
};

START_TEST(test_verdict_status)
{
    verdict v = {.outcome = statuses[_i].outcome, .code = statuses[_i].code};

    ck_assert_int_eq(verdict_status(&v), statuses[_i].status);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend-adapters");
    TCase *tcase = tcase_create("adapters");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, test_wire, 0, sizeof(wires) / sizeof(wires[0]));
    tcase_add_test(tcase, test_too_many_unknown_fields);
    tcase_add_test(tcase, test_the_dearest_payload_fits_its_budget);
    tcase_add_test(tcase, test_inflate);
    tcase_add_test(tcase, test_a_frame_gets_no_more_than_was_set_aside);
    tcase_add_test(tcase, test_room);
    tcase_add_test(tcase, test_pacing);
    tcase_add_loop_test(tcase, test_time, 0, sizeof(times) / sizeof(times[0]));
    tcase_add_loop_test(tcase, test_verdict_status, 0, sizeof(statuses) / sizeof(statuses[0]));
    tcase_add_loop_test(tcase, test_session_body, 0, sizeof(bodies) / sizeof(bodies[0]));
    return run_suite(suite);
}
