/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stream_fixture.h"

#include <string.h>
#include <unistd.h>

/* A file grows by every byte while its headers are patched last, as JDKs and async-profiler do. */
START_TEST(follows_a_growing_file)
{
    size_t starts[3];
    write_three(starts);
    make_file();
    begin_following();
    expect_nothing();
    for (int i = 0; i < 3; i++) {
        size_t end = i < 2 ? starts[i + 1] : w.len;
        uint8_t header[HEADER_SIZE];
        memcpy(header, w.data + starts[i], sizeof(header));
        memset(w.data + starts[i] + SIZE_AT, 0, 24);
        for (size_t len = starts[i]; len <= end; len += 40) {
            write_file(len);
            expect_nothing();
        }
        write_file(end);
        expect_nothing();
        memcpy(w.data + starts[i], header, sizeof(header));
        write_file(end);
        expect_chunk(starts[i]);
        expect_nothing();
    }
    ck_assert_uint_eq(stream_loss().record_count, 0);
}
END_TEST

/* JDK 11 writes one header field after the other, the clock's start last. */
START_TEST(half_patched_header_is_waited_for)
{
    write_simple_chunk();
    make_file();
    uint8_t ticks[8];
    memcpy(ticks, w.data + 48, 8);
    memset(w.data + 48, 0, 8);
    write_file(w.len);
    begin_following();
    expect_nothing();
    memcpy(w.data + 48, ticks, 8);
    write_file(w.len);
    expect_chunk(0);
}
END_TEST

/* What was delivered may be gone from the file: neither the current chunk nor the next needs it. */
START_TEST(consumed_bytes_may_be_overwritten)
{
    size_t starts[3];
    write_three(starts);
    make_file();
    write_file(w.len);
    begin_following();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), 1);
        uint64_t done = jfr_stream_done(stream);
        memset(w.data, 0, done);
        write_file(done);
        (void)next_sample();
        expect_no_sample();
    }
    expect_nothing();
    ck_assert_uint_eq(stream_loss().chunks_whole, 3);
}
END_TEST

/* A second stream goes on where the first stopped, with what it knew. */
START_TEST(goes_on_at_an_offset)
{
    params.async = true;
    begin_chunk(&w, &params);
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "interval", "3000000");
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    size_t second = w.len;
    begin_chunk(&w, &params); /* async-profiler states its settings in the first chunk only */
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);

    begin_stream(0);
    feed(0, second);
    ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), 1);
    jfr_intervals known = JFR_INTERVALS_INIT;
    ck_assert_int_eq(jfr_chunk_intervals(chunk, &known, &err), 0);
    uint64_t done = jfr_stream_done(stream);
    jfr_stream_free(stream);

    options.inherit = &known;
    make_file();
    write_file(w.len);
    ck_assert_int_eq(jfr_stream_follow(&stream, fd, done, &options, &err), 0);
    ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), 1);
    ck_assert_uint_eq(next_sample().values[0].value, 3000000);
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, second);
}
END_TEST

START_TEST(only_regular_files_are_followed)
{
    int ends_of_pipe[2];
    ck_assert_int_eq(pipe(ends_of_pipe), 0);
    ck_assert_int_eq(jfr_stream_follow(&stream, ends_of_pipe[0], 0, NULL, &err), JFR_ERR_IO);
    close(ends_of_pipe[0]);
    close(ends_of_pipe[1]);
    ck_assert_int_eq(jfr_stream_follow(&stream, ends_of_pipe[0], 0, NULL, &err), JFR_ERR_IO);
    make_file();
    begin_following();
    ck_assert_int_eq(jfr_stream_feed(stream, "x", 1, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_stream_amend(stream, 0, "x", 1, &err), JFR_ERR_USAGE);
    jfr_stream_free(NULL);
}
END_TEST

START_TEST(file_that_became_shorter_is_an_error)
{
    write_simple_chunk();
    make_file();
    write_file(w.len);
    begin_following();
    expect_chunk(0);
    expect_nothing();
    ck_assert_int_eq(ftruncate(fd, 100), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), JFR_ERR_IO);
        ck_assert_uint_eq(err.offset, 100);
        ck_assert_ptr_nonnull(strstr(err.message, "begun anew"));
        jfr_stream_end(stream);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream_follow");
    TCase *t = tcase_create("stream_follow");
    tcase_add_checked_fixture(t, stream_setup, stream_teardown);
    tcase_add_test(t, follows_a_growing_file);
    tcase_add_test(t, half_patched_header_is_waited_for);
    tcase_add_test(t, consumed_bytes_may_be_overwritten);
    tcase_add_test(t, goes_on_at_an_offset);
    tcase_add_test(t, only_regular_files_are_followed);
    tcase_add_test(t, file_that_became_shorter_is_an_error);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
