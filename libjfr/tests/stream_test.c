#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* What a chunk's header says of it begins here; the writer of the tests leaves it till the end. */
enum { HEADER_SIZE = 68, SIZE_AT = 8 };

static jfr_stream *stream;
static char path[] = "/tmp/jfr-stream-test-XXXXXX";
static int fd = -1;

static void setup(void)
{
    fixture_setup();
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
}

static void teardown(void)
{
    jfr_stream_free(stream);
    stream = NULL;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    fd = -1;
    fixture_teardown();
}

static void begin_stream(uint64_t offset)
{
    int rc = jfr_stream_new(&stream, offset, &options, &err);
    ck_assert_msg(rc == 0, "new: %s", err.message);
}

static void feed(size_t from, size_t to)
{
    int rc = jfr_stream_feed(stream, w.data + from, to - from, &err);
    ck_assert_msg(rc == 0, "feed: %s", err.message);
}

static void make_file(void)
{
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
}

/* The file then holds the first `len` written bytes. */
static void write_file(size_t len)
{
    ck_assert_int_eq(pwrite(fd, w.data, len, 0), (ssize_t)len);
}

static void begin_following(void)
{
    int rc = jfr_stream_follow(&stream, fd, 0, &options, &err);
    ck_assert_msg(rc == 0, "follow: %s", err.message);
}

static jfr_loss stream_loss(void)
{
    jfr_loss l;
    jfr_stream_loss(stream, &l);
    return l;
}

static void expect_nothing(void)
{
    int rc = jfr_stream_next(stream, &chunk, &err);
    ck_assert_msg(rc == 0, "next: %d %s", rc, rc < 0 ? err.message : "");
}

/* The next chunk is there, lies at `offset` and holds the sample of write_simple_chunk. */
static void expect_chunk(uint64_t offset)
{
    int rc = jfr_stream_next(stream, &chunk, &err);
    ck_assert_msg(rc == 1, "next: %d %s", rc, rc < 0 ? err.message : "");
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, offset);
    ck_assert_uint_eq(jfr_stream_done(stream), offset + jfr_chunk_get_info(chunk)->size);
    jfr_sample s = next_sample();
    jfr_stack stack;
    ck_assert_uint_eq(s.values[0].value, 10000000);
    ck_assert_int_eq(jfr_chunk_stack(chunk, s.stack, &stack, &err), 0);
    assert_str(stack.frames[0].method->name, "put");
    expect_no_sample();
}

/* Three chunks with their own type ids and clocks; returns where the second and third begin. */
static void write_three(size_t starts[3])
{
    for (int i = 0; i < 3; i++) {
        starts[i] = w.len;
        params.base = 20 + 100 * (uint32_t)i;
        params.ticks_per_second = 1000000000 + 7 * (uint64_t)i;
        write_simple_chunk();
    }
}

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

/* A finished chunk beyond the limit is passed over by its size, the next is delivered. */
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
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, each_finished_chunk_once, 0, 10);
    tcase_add_test(t, gzip_is_unpacked_as_it_comes);
    tcase_add_test(t, header_is_amended);
    tcase_add_loop_test(t, unfinished_chunk_at_the_end, 0, 4);
    tcase_add_test(t, cut_chunk_at_the_end_is_named);
    tcase_add_test(t, follows_a_growing_file);
    tcase_add_test(t, half_patched_header_is_waited_for);
    tcase_add_test(t, consumed_bytes_may_be_overwritten);
    tcase_add_test(t, goes_on_at_an_offset);
    tcase_add_test(t, what_is_no_recording_is_refused);
    tcase_add_loop_test(t, garbage_is_passed_over, 0, 10);
    tcase_add_test(t, garbage_at_the_end_is_counted);
    tcase_add_loop_test(t, too_large_chunk_costs_itself, 0, 2);
    tcase_add_test(t, too_large_open_chunk_is_given_up);
    tcase_add_test(t, feeding_without_taking_is_refused);
    tcase_add_test(t, too_many_chunks_end_the_stream);
    tcase_add_test(t, unreadable_chunk_is_named);
    tcase_add_test(t, only_regular_files_are_followed);
    tcase_add_test(t, file_that_became_shorter_is_an_error);
    tcase_add_loop_test(t, empty_stream_ends, 0, 2);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
