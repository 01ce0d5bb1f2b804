/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stream_fixture.h"

#include <string.h>
#include <zlib.h>

static const size_t pieces[] = {1, 7, 68, 1000, 1 << 20};

/* However the bytes are cut into pieces, each chunk comes once, as soon as its last byte is there.
 */
START_TEST(each_finished_chunk_once)
{
    size_t starts[3];
    params.plain = _i % 2;
    write_three(starts);
    begin_stream(5000);
    size_t piece = pieces[_i / 2];
    size_t chunks = 0;
    for (size_t at = 0; at < w.len; at += piece) {
        size_t to = at + piece < w.len ? at + piece : w.len;
        feed(at, to);
        while (chunks < 3 && to >= (chunks < 2 ? starts[chunks + 1] : w.len))
            expect_chunk(5000 + starts[chunks++]);
        expect_nothing();
    }
    ck_assert_uint_eq(chunks, 3);
    jfr_stream_end(stream);
    expect_nothing();
    expect_nothing();
    ck_assert_uint_eq(jfr_stream_done(stream), 5000 + w.len);
    ck_assert_uint_eq(stream_loss().chunks_whole, 3);
    ck_assert_uint_eq(stream_loss().record_count, 0);
}
END_TEST

START_TEST(gzip_is_unpacked_as_it_comes)
{
    size_t starts[3];
    write_three(starts);
    uint8_t packed[65536];
    z_stream z = {.next_in = w.data, .avail_in = (uInt)w.len};
    z.next_out = packed;
    z.avail_out = sizeof(packed);
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t len = sizeof(packed) - z.avail_out;
    deflateEnd(&z);

    begin_stream(0);
    size_t chunks = 0;
    for (size_t at = 0; at < len; at++) {
        ck_assert_int_eq(jfr_stream_feed(stream, packed + at, 1, &err), 0);
        while (chunks < 3 && jfr_stream_next(stream, &chunk, &err) == 1)
            ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, starts[chunks++]);
    }
    ck_assert_uint_eq(chunks, 3);
    ck_assert_int_eq(jfr_stream_amend(stream, 0, "", 0, &err), JFR_ERR_USAGE);
    jfr_stream_free(stream);

    begin_stream(0);
    ck_assert_int_eq(jfr_stream_feed(stream, packed, len - 5, &err), 0);
    for (chunks = 0; chunks < 3; chunks++)
        ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), 1);
    expect_nothing();
    ck_assert_uint_eq(stream_loss().record_count, 0); /* the rest may come */
    jfr_stream_end(stream);
    expect_nothing();
    ck_assert_uint_eq(stream_loss().record_count, 1);
    ck_assert_int_eq(stream_loss().records[0].reason, JFR_LOSS_BAD_GZIP);
    jfr_stream_free(stream);

    options.max_unpacked_bytes = 500;
    begin_stream(0);
    ck_assert_int_eq(jfr_stream_feed(stream, packed, len, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_unpacked_bytes"));
    jfr_stream_free(stream);

    options.max_unpacked_bytes = 0;
    packed[len / 2] ^= 0x55;
    begin_stream(0);
    ck_assert_int_eq(jfr_stream_feed(stream, packed, len, &err), JFR_ERR_FORMAT);
}
END_TEST

/* The writer finishes a chunk whose header was fed while it was open. */
START_TEST(header_is_amended)
{
    write_simple_chunk();
    uint8_t header[HEADER_SIZE];
    memcpy(header, w.data, sizeof(header));
    memset(w.data + SIZE_AT, 0, 24);
    w.data[SIZE_AT + 4] = 0x40; /* 0x40000000, both offsets 0: async-profiler's open chunk */
    begin_stream(0);
    feed(0, w.len);
    expect_nothing();
    ck_assert_uint_eq(jfr_stream_done(stream), 0);
    ck_assert_int_eq(jfr_stream_amend(stream, w.len - 10, header, 11, &err), JFR_ERR_USAGE);
    ck_assert_uint_eq(err.offset, w.len - 10);
    ck_assert_int_eq(jfr_stream_amend(stream, 0, header, sizeof(header), &err), 0);
    expect_chunk(0);
    ck_assert_int_eq(jfr_stream_amend(stream, 0, header, 1, &err), JFR_ERR_USAGE);
    expect_nothing();
}
END_TEST

static const struct {
    uint32_t flags;
    bool torn;
} ends[] = {{0, false}, {JFR_WALK_UNFINISHED, false}, {0, true}, {JFR_WALK_UNFINISHED, true}};

/* What is left at the end follows the rules of jfr_next_chunk. */
START_TEST(unfinished_chunk_at_the_end)
{
    write_simple_chunk();
    size_t second = w.len;
    params.open = true;
    write_simple_chunk();
    size_t len = w.len - (ends[_i].torn ? 3 : 0);
    options.flags = ends[_i].flags;
    make_file();
    write_file(len);
    begin_following();
    expect_chunk(0);
    expect_nothing();
    ck_assert_uint_eq(jfr_stream_done(stream), second);
    jfr_stream_end(stream);
    if (options.flags != 0) {
        ck_assert_int_eq(jfr_stream_next(stream, &chunk, &err), 1);
        ck_assert(!jfr_chunk_get_info(chunk)->finished);
        ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, second);
        (void)next_sample();
    }
    expect_nothing();
    jfr_loss l = stream_loss();
    ck_assert_uint_eq(l.chunks_whole, 1);
    ck_assert_uint_eq(l.chunks_partial, options.flags != 0);
    ck_assert_int_eq(l.records[0].reason, JFR_LOSS_UNFINISHED);
    ck_assert_uint_eq(l.records[0].chunk, second);
    if (options.flags == 0)
        ck_assert_uint_eq(l.bytes_lost, len - second);
    ck_assert_uint_eq(jfr_stream_done(stream), len);
}
END_TEST

START_TEST(cut_chunk_at_the_end_is_named)
{
    write_simple_chunk();
    size_t second = w.len;
    write_simple_chunk();
    begin_stream(0);
    feed(0, w.len - 1);
    expect_chunk(0);
    expect_nothing();
    jfr_stream_end(stream);
    expect_nothing();
    ck_assert_int_eq(stream_loss().records[0].reason, JFR_LOSS_TRUNCATED);
    ck_assert_uint_eq(stream_loss().records[0].offset, second);
    ck_assert_uint_eq(stream_loss().bytes_lost, w.len - 1 - second);
    ck_assert_int_eq(jfr_stream_feed(stream, w.data, 1, &err), JFR_ERR_USAGE);
}
END_TEST

/* Nothing was fed, or no byte of a file is there: an end without a chunk is no error. */
START_TEST(empty_stream_ends)
{
    if (_i)
        make_file();
    if (_i)
        begin_following();
    else
        begin_stream(0);
    expect_nothing();
    jfr_stream_end(stream);
    expect_nothing();
    ck_assert_uint_eq(stream_loss().record_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream");
    TCase *t = tcase_create("stream");
    tcase_add_checked_fixture(t, stream_setup, stream_teardown);
    tcase_add_loop_test(t, each_finished_chunk_once, 0, 10);
    tcase_add_test(t, gzip_is_unpacked_as_it_comes);
    tcase_add_test(t, header_is_amended);
    tcase_add_loop_test(t, unfinished_chunk_at_the_end, 0, 4);
    tcase_add_test(t, cut_chunk_at_the_end_is_named);
    tcase_add_loop_test(t, empty_stream_ends, 0, 2);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
