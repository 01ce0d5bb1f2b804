/* SPDX-License-Identifier: Apache-2.0 */
#include "read/header_impl.h"
#include "run_suite.h"
#include "support/writer.h"

#include <string.h>

static writer w;
static chunk_params params;

static void setup(void)
{
    params = (chunk_params)CHUNK_PARAMS_INIT;
    w = (writer){.data = NULL};
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

static void teardown(void)
{
    writer_free(&w);
}

START_TEST(reads_all_fields)
{
    jfr__header h;
    ck_assert_int_eq(jfr__header_read(&h, w.data, w.len, 0, NULL), 0);
    ck_assert_uint_eq(h.major, 2);
    ck_assert_uint_eq(h.minor, 0);
    ck_assert_uint_eq(h.size, w.len);
    ck_assert_uint_eq(h.pool_offset, w.last_pool);
    ck_assert_uint_eq(h.metadata_offset, 68);
    ck_assert_int_eq(h.start_ns, 1000000000);
    ck_assert_uint_eq(h.duration_ns, 1000000000);
    ck_assert_uint_eq(h.start_ticks, 500);
    ck_assert_uint_eq(h.ticks_per_second, 1000000000);
    ck_assert(h.compressed);
    ck_assert(jfr__header_is_finished(&h));
}
END_TEST

/* The result of one wrong byte in the header. */
static const struct {
    size_t at;
    uint8_t byte;
    uint64_t offset;
    const char *says;
} bad[] = {
    {0, 'G', 0, "magic"},
    {3, 1, 0, "magic"},
    {5, 3, 4, "version 3.0"},
    {5, 0, 4, "version 0.0"},
};

START_TEST(names_what_is_wrong)
{
    jfr__header h;
    jfr_error err;
    w.data[bad[_i].at] = bad[_i].byte;
    ck_assert_int_eq(jfr__header_read(&h, w.data, w.len, 0, &err), JFR_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, bad[_i].offset);
    ck_assert_ptr_nonnull(strstr(err.message, bad[_i].says));
}
END_TEST

START_TEST(refuses_missing_clock)
{
    jfr__header h;
    jfr_error err;
    memset(w.data + 56, 0, 8);
    ck_assert_int_eq(jfr__header_read(&h, w.data, w.len, 0, &err), JFR_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 56);
}
END_TEST

START_TEST(refuses_cut_header)
{
    jfr__header h;
    jfr_error err;
    for (size_t len = 0; len < JFR__HEADER_SIZE; len++)
        ck_assert_int_eq(jfr__header_read(&h, w.data, len, 0, &err), JFR_ERR_FORMAT);
    ck_assert_int_eq(jfr__header_read(&h, w.data, w.len, w.len + 1, &err), JFR_ERR_FORMAT);
}
END_TEST

/* Flags and state of JDK chunks: bit 0 of the last byte = compressed, bit 1 = final chunk. */
static const struct {
    uint8_t state;
    uint8_t flags;
    bool compressed;
    bool finished;
} states[] = {{0, 1, true, true}, {0, 3, true, true}, {0, 0, false, true}, {5, 1, true, false}};

START_TEST(reads_state_and_flags)
{
    jfr__header h;
    w.data[64] = states[_i].state;
    w.data[67] = states[_i].flags;
    ck_assert_int_eq(jfr__header_read(&h, w.data, w.len, 0, NULL), 0);
    ck_assert_int_eq(h.compressed, states[_i].compressed);
    ck_assert_int_eq(jfr__header_is_finished(&h), states[_i].finished);
}
END_TEST

START_TEST(finds_next_header)
{
    size_t second = w.len + 3;
    put_bytes(&w, "FLR", 4); /* magic without a header behind it */
    w.len--;
    begin_chunk(&w, &params);
    ck_assert_uint_eq(jfr__header_find(w.data, w.len, 0), 0);
    ck_assert_uint_eq(jfr__header_find(w.data, w.len, 1), second);
    ck_assert_uint_eq(jfr__header_find(w.data, w.len, second + 1), w.len);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("header");
    TCase *t = tcase_create("header");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, reads_all_fields);
    tcase_add_loop_test(t, names_what_is_wrong, 0, (int)(sizeof(bad) / sizeof(bad[0])));
    tcase_add_test(t, refuses_missing_clock);
    tcase_add_test(t, refuses_cut_header);
    tcase_add_loop_test(t, reads_state_and_flags, 0, 4);
    tcase_add_test(t, finds_next_header);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
