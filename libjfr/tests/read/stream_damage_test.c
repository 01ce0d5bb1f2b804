/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stream_fixture.h"

#include <string.h>

START_TEST(what_is_no_recording_is_refused)
{
    static const char text[] = "This is a text file, long enough to hold the header of a chunk "
                               "if it were one, which it is not.";
    begin_stream(300);
    ck_assert_int_eq(jfr_stream_feed(stream, text, 67, &err), 0);
    expect_nothing();
    ck_assert_int_eq(jfr_stream_feed(stream, text, 10, &err), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), JFR_ERR_FORMAT);
        ck_assert_uint_eq(err.offset, 300);
    }
}
END_TEST

static const size_t pieces[] = {1, 7, 68, 1000, 1 << 20};

/* Garbage behind a chunk is passed over to the next header, however it is cut into pieces. */
START_TEST(garbage_is_passed_over)
{
    write_simple_chunk();
    size_t garbage = w.len;
    for (int i = 0; i < 40; i++)
        put_bytes(&w, "#### FLR ####", 13);
    put_bytes(&w, "FLR", 3);
    size_t second = w.len;
    write_simple_chunk();
    size_t piece = pieces[_i / 2];
    if (_i % 2) {
        make_file();
        write_file(w.len);
        begin_following();
        expect_chunk(0);
        expect_chunk(second);
    } else {
        begin_stream(0);
        int chunks = 0;
        for (size_t at = 0; at < w.len; at += piece) {
            feed(at, at + piece < w.len ? at + piece : w.len);
            while (jfr_stream_next(stream, &chunk, &err) == 1)
                ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, chunks++ ? second : 0);
        }
        ck_assert_int_eq(chunks, 2);
    }
    expect_nothing();
    ck_assert_uint_eq(stream_loss().record_count, 1);
    ck_assert_int_eq(stream_loss().records[0].reason, JFR_LOSS_BAD_HEADER);
    ck_assert_uint_eq(stream_loss().records[0].offset, garbage);
    ck_assert_uint_eq(stream_loss().records[0].bytes, second - garbage);
    ck_assert_uint_eq(stream_loss().chunks_lost, 1);
}
END_TEST

START_TEST(garbage_at_the_end_is_counted)
{
    write_simple_chunk();
    size_t garbage = w.len;
    for (int i = 0; i < 40; i++)
        put_bytes(&w, "#### FLR ####", 13);
    begin_stream(0);
    feed(0, w.len);
    expect_chunk(0);
    expect_nothing();
    jfr_stream_end(stream);
    expect_nothing();
    ck_assert_uint_eq(stream_loss().record_count, 1);
    ck_assert_uint_eq(stream_loss().bytes_lost, w.len - garbage);
}
END_TEST

/* A finished chunk beyond the limit is passed over, the next is delivered. */
START_TEST(too_large_chunk_costs_itself)
{
    write_simple_chunk();
    size_t second = w.len;
    begin_chunk(&w, &params);
    for (int i = 0; i < 200; i++)
        put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    size_t third = w.len;
    write_simple_chunk();
    options.max_stream_bytes = second + 200;
    if (_i) {
        make_file();
        write_file(w.len);
        begin_following();
    } else {
        begin_stream(0);
    }
    int limits = 0;
    int chunks = 0;
    for (size_t at = 0; at < w.len; at++) {
        if (_i == 0)
            feed(at, at + 1);
        int rc;
        while ((rc = jfr_stream_next(stream, &chunk, &err)) != 0) {
            chunks += rc == 1;
            limits += rc == JFR_ERR_LIMIT;
            if (rc == 1)
                ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, chunks == 1 ? 0 : third);
            if (rc == 1)
                continue;
            ck_assert_uint_eq(err.offset, second);
            ck_assert_ptr_nonnull(strstr(err.message, "max_stream_bytes"));
        }
    }
    ck_assert_int_eq(limits, 1);
    ck_assert_int_eq(chunks, 2);
    ck_assert_int_eq(stream_loss().records[0].reason, JFR_LOSS_LIMIT);
    ck_assert_uint_eq(stream_loss().records[0].offset, second);
    ck_assert_uint_eq(stream_loss().bytes_lost, third - second);
}
END_TEST

/* Feeds so many bytes at a time, or follows a file that has all of them (0), and takes what comes.
 * Returns how many chunks did; the last one's offset is told. */
static int take_all(size_t piece, uint64_t *last)
{
    int chunks = 0;
    int rc = 0;
    if (piece == 0) {
        make_file();
        write_file(w.len);
        begin_following();
    } else {
        begin_stream(0);
    }
    for (size_t at = 0; at < w.len; at += piece == 0 ? w.len : piece) {
        if (piece > 0)
            feed(at, at + piece < w.len ? at + piece : w.len);
        while ((rc = jfr_stream_next(stream, &chunk, &err)) != 0) {
            ck_assert(rc == 1 || rc == JFR_ERR_LIMIT);
            chunks += rc == 1;
            if (rc == 1)
                *last = jfr_chunk_get_info(chunk)->offset;
        }
    }
    jfr_stream_end(stream);
    expect_nothing();
    return chunks;
}

/* One bit of a size: not all that follows is lost for it. */
START_TEST(size_that_is_wrong_costs_one_chunk)
{
    size_t starts[3];
    uint64_t last = 0;
    write_three(starts);
    w.data[starts[1] + SIZE_AT] ^= 0x10;
    ck_assert_int_eq(take_all(_i < 5 ? pieces[_i] : 0, &last), 2);
    ck_assert_uint_eq(last, starts[2]);
    ck_assert_uint_eq(stream_loss().chunks_lost, 1);
    ck_assert_uint_eq(stream_loss().bytes_lost, starts[2] - starts[1]);
    ck_assert_uint_eq(stream_loss().records[0].offset, starts[1]);
}
END_TEST

/* What looks like a header within a chunk is none where the chunk's size is borne out. */
START_TEST(too_large_chunk_may_hold_a_header)
{
    uint64_t last = 0;
    write_simple_chunk();
    size_t second = w.len;
    begin_chunk(&w, &params);
    for (int i = 0; i < 200; i++)
        put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_standard_pools(&w);
    end_chunk(&w, &params);
    size_t third = w.len;
    memcpy(w.data + second + (third - second) / 2, w.data, HEADER_SIZE);
    if (_i == 0)
        write_simple_chunk();
    options.max_stream_bytes = second + 200;
    ck_assert_int_eq(take_all(0, &last), _i == 0 ? 2 : 1);
    ck_assert_uint_eq(last, _i == 0 ? third : 0);
    ck_assert_uint_eq(stream_loss().chunks_lost, 1);
    ck_assert_uint_eq(stream_loss().bytes_lost, third - second);
}
END_TEST

/* An open chunk that is fed beyond the limit has no known end: the next header is searched. */
START_TEST(too_large_open_chunk_is_given_up)
{
    params.open = true;
    begin_chunk(&w, &params);
    for (int i = 0; i < 200; i++)
        put_execution(&w, 600, 70, 7, 1);
    params.open = false;
    size_t second = w.len;
    write_simple_chunk();
    options.max_stream_bytes = w.len - second + 100;
    begin_stream(0);
    feed(0, w.len - 1);
    ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), JFR_ERR_LIMIT);
    expect_nothing();
    feed(w.len - 1, w.len);
    expect_chunk(second);
    ck_assert_uint_eq(stream_loss().bytes_lost, second);
    ck_assert_int_eq(stream_loss().records[0].reason, JFR_LOSS_LIMIT);
}
END_TEST

START_TEST(feeding_without_taking_is_refused)
{
    write_simple_chunk();
    options.max_stream_bytes = w.len;
    begin_stream(0);
    feed(0, w.len);
    feed(0, w.len);
    ck_assert_int_eq(jfr_stream_feed(stream, w.data, 1, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_stream_bytes"));
    expect_chunk(0);
    expect_chunk(w.len);
    feed(0, w.len);
    expect_chunk(2 * w.len);
}
END_TEST

START_TEST(too_many_chunks_end_the_stream)
{
    size_t starts[3];
    write_three(starts);
    options.max_chunks = 1;
    begin_stream(0);
    feed(0, w.len);
    expect_chunk(0);
    ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), JFR_ERR_LIMIT);
    ck_assert_uint_eq(err.offset, starts[1]);
    ck_assert_ptr_nonnull(strstr(err.message, "max_chunks"));
    expect_nothing();
}
END_TEST

/* A chunk that cannot be read is skipped and named, with offsets of the recording. */
START_TEST(unreadable_chunk_is_named)
{
    size_t starts[3];
    write_three(starts);
    w.data[starts[1] + HEADER_SIZE + 4] = 9; /* the type of its metadata event */
    begin_stream(1000);
    feed(0, w.len);
    expect_chunk(1000);
    expect_chunk(1000 + starts[2]);
    expect_nothing();
    jfr_loss l = stream_loss();
    ck_assert_int_eq(l.records[0].reason, JFR_LOSS_BAD_METADATA);
    ck_assert_uint_eq(l.records[0].chunk, 1000 + starts[1]);
    ck_assert_uint_ge(l.records[0].offset, 1000 + starts[1] + HEADER_SIZE);
    ck_assert_uint_eq(l.chunks_whole, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream_damage");
    TCase *t = tcase_create("stream_damage");
    tcase_add_checked_fixture(t, stream_setup, stream_teardown);
    tcase_add_test(t, what_is_no_recording_is_refused);
    tcase_add_loop_test(t, garbage_is_passed_over, 0, 10);
    tcase_add_test(t, garbage_at_the_end_is_counted);
    tcase_add_loop_test(t, too_large_chunk_costs_itself, 0, 2);
    tcase_add_loop_test(t, size_that_is_wrong_costs_one_chunk, 0, 6);
    tcase_add_loop_test(t, too_large_chunk_may_hold_a_header, 0, 2);
    tcase_add_test(t, too_large_open_chunk_is_given_up);
    tcase_add_test(t, feeding_without_taking_is_refused);
    tcase_add_test(t, too_many_chunks_end_the_stream);
    tcase_add_test(t, unreadable_chunk_is_named);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
