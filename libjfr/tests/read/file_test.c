/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

START_TEST(reads_chunks_in_order)
{
    write_simple_chunk();
    size_t second = w.len;
    params.start_ns = 77;
    params.base = 300; /* each chunk has its own type ids */
    write_simple_chunk();
    open_first_chunk();
    const jfr_chunk_info *info = jfr_chunk_get_info(chunk);
    ck_assert_uint_eq(info->offset, 0);
    ck_assert_uint_eq(info->size, second);
    ck_assert(info->finished);
    ck_assert_uint_eq(next_sample().values[0].value, 10000000);
    expect_no_sample();
    next_chunk();
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, second);
    ck_assert_int_eq(jfr_chunk_get_info(chunk)->start_ns, 77);
    ck_assert_uint_eq(next_sample().values[0].value, 10000000);
    expect_no_sample();
    expect_end();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 2);
    ck_assert_uint_eq(loss().record_count, 0);
}
END_TEST

START_TEST(identical_chunks_count_twice)
{
    write_simple_chunk();
    write_simple_chunk();
    open_first_chunk();
    (void)next_sample();
    next_chunk();
    (void)next_sample();
    expect_end();
}
END_TEST

START_TEST(refuses_what_is_no_recording)
{
    static const char text[] = "This is a text file, long enough to hold the header of a chunk "
                               "if it were one, which it is not.";
    ck_assert_int_eq(jfr_open_mem(&file, text, sizeof(text), NULL, &err), JFR_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 0);
    ck_assert_int_eq(jfr_open_mem(&file, NULL, 0, NULL, &err), JFR_ERR_FORMAT);
    ck_assert_int_eq(jfr_open_mem(&file, text, 10, NULL, NULL), JFR_ERR_FORMAT);
    ck_assert_ptr_null(file);
}
END_TEST

/* A file of two chunks, cut anywhere: the first chunk is delivered once all of its bytes are
 * present. */
START_TEST(truncation_at_every_byte_keeps_whole_chunks)
{
    write_simple_chunk();
    size_t first = w.len;
    write_simple_chunk();
    options.flags = _i == 1 ? JFR_WALK_UNFINISHED : 0;
    for (size_t len = 0; len < w.len; len++) {
        uint8_t *copy = malloc(len + 1); /* a sanitizer reports any read beyond */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, w.data, len);
        int rc = jfr_open_mem(&file, copy, len, &options, &err);
        ck_assert_int_eq(rc, len < 68 ? JFR_ERR_FORMAT : 0);
        uint64_t samples = 0;
        while (rc == 0 && jfr_next_chunk(file, &chunk, &err) == 1) {
            jfr_sample s;
            jfr_stack stack;
            while (jfr_samples_next(chunk, &s, &err) == 1) {
                samples++;
                if (s.stack != JFR_NONE)
                    ck_assert_int_eq(jfr_chunk_stack(chunk, s.stack, &stack, &err), 0);
            }
        }
        if (rc == 0) {
            ck_assert_uint_eq(loss().chunks_whole, len >= first);
            ck_assert_msg(len == first || loss().record_count > 0, "no loss at %zu", len);
            ck_assert_uint_ge(samples, len >= first);
        }
        jfr_close(file);
        file = NULL;
        free(copy);
    }
}
END_TEST

START_TEST(truncated_chunk_is_named)
{
    write_simple_chunk();
    size_t first = w.len;
    write_simple_chunk();
    w.len -= 10;
    open_first_chunk();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 1);
    ck_assert_uint_eq(loss().chunks_lost, 1);
    ck_assert_uint_eq(loss().bytes_lost, w.len - first);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_TRUNCATED);
    ck_assert_uint_eq(loss().records[0].offset, first);
}
END_TEST

START_TEST(open_chunk_is_left_alone)
{
    write_simple_chunk();
    size_t first = w.len;
    params.open = true;
    write_simple_chunk();
    open_first_chunk();
    expect_end();
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_UNFINISHED);
    ck_assert_uint_eq(loss().records[0].offset, first);
    ck_assert_uint_eq(loss().bytes_lost, w.len - first);
}
END_TEST

START_TEST(open_chunk_is_walked_when_asked)
{
    params.open = true;
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "20 ms");
    put_execution(&w, 600, 70, 7, 1);
    size_t torn = w.len;
    put_bytes(&w, "\x90\x01", 2); /* an event that the writer has only begun */
    options.flags = JFR_WALK_UNFINISHED;
    open_first_chunk();
    ck_assert(!jfr_chunk_get_info(chunk)->finished);
    jfr_sample s = next_sample();
    ck_assert_uint_eq(s.values[0].raw, 20000000);
    ck_assert_uint_eq(s.stack, JFR_NONE); /* its pools are not written yet */
    expect_no_sample();
    expect_end();
    ck_assert_uint_eq(loss().chunks_partial, 1);
    ck_assert_uint_eq(loss().record_count, 2);
    ck_assert_uint_eq(loss().records[0].offset, w.len);
    ck_assert_uint_eq(loss().records[1].offset, torn);
    ck_assert_uint_eq(loss().bytes_lost, 2);
}
END_TEST

START_TEST(pools_of_open_chunk_are_used)
{
    params.open = true;
    write_simple_chunk();
    options.flags = JFR_WALK_UNFINISHED;
    open_first_chunk();
    ck_assert_uint_ne(next_sample().stack, JFR_NONE);
}
END_TEST

/*
 * The JDK writes a copy of the header into the chunk once a second. A cut chunk does not end there.
 */
START_TEST(a_copy_of_the_header_ends_no_cut_chunk)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    size_t event = begin_event(&w, T_WEIRD);
    size_t copy = w.len;
    put_bytes(&w, w.data + w.chunk, 68);
    store_be(w.data + copy + 8, copy - w.chunk + 68, 8);
    end_event(&w, event);
    put_execution(&w, 700, 70, 7, 1);
    size_t end = w.len;
    put_standard_pools(&w);
    end_chunk(&w, &params);
    if (_i == 0) /* that chunk is the next one of the file */
        w.len = end;
    else
        store_be(w.data + w.chunk + 8, w.len * 9, 8);
    size_t cut = w.len;
    if (_i == 1)
        write_simple_chunk();
    options.flags = JFR_WALK_UNFINISHED;
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->size, cut);
    (void)next_sample();
    (void)next_sample();
    expect_no_sample();
    if (_i == 1)
        next_chunk();
    expect_end();
    ck_assert_uint_eq(loss().chunks_partial, 1);
    ck_assert_uint_eq(loss().chunks_whole, _i == 1);
}
END_TEST

START_TEST(garbage_between_chunks_is_skipped)
{
    write_simple_chunk();
    size_t garbage = w.len;
    put_bytes(&w, "#### not a chunk ####", 21);
    write_simple_chunk();
    open_first_chunk();
    next_chunk();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 2);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_HEADER);
    ck_assert_uint_eq(loss().records[0].offset, garbage);
    ck_assert_uint_eq(loss().records[0].bytes, 21);
}
END_TEST

/* Events are lost up to the next event that the chain of checkpoints proves. */
START_TEST(event_of_size_zero_costs_what_lies_before_the_next_checkpoint)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    size_t bad = w.len;
    put_be(&w, 0, 4);
    put_execution(&w, 700, 70, 7, 1); /* its start cannot be found */
    size_t checkpoint = w.len;
    put_standard_pools(&w);
    put_execution(&w, 800, 71, 9, 1);
    end_chunk(&w, &params);
    write_simple_chunk();
    open_first_chunk();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(next_sample().time_ns, 1000000100);
        ck_assert_int_eq(next_sample().time_ns, 1000000300);
        expect_no_sample();
        expect_no_sample();
        jfr_samples_rewind(chunk);
    }
    ck_assert_uint_eq(loss().record_count, 1); /* recorded once, for several walks */
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_EVENTS);
    ck_assert_uint_eq(loss().records[0].offset, bad);
    ck_assert_uint_eq(loss().records[0].bytes, checkpoint - bad);
    jfr_events *events;
    jfr_event event;
    ck_assert_int_eq(jfr_events_open(&events, chunk,
                                     &(jfr_events_options){.size = sizeof(jfr_events_options),
                                                           .from_ns = INT64_MIN,
                                                           .to_ns = INT64_MAX,
                                                           .flags = JFR_EVENTS_RAW},
                                     &err),
                     0);
    unsigned executions = 0;
    while (jfr_events_next(events, &event, &err) == 1)
        executions += event.type_id == params.base + T_EXECUTION;
    jfr_events_close(events);
    ck_assert_uint_eq(executions, 2);
    ck_assert_uint_eq(loss().record_count, 1);
    next_chunk();
    (void)next_sample();
    expect_end();
    ck_assert_uint_eq(loss().chunks_partial, 1);
    ck_assert_uint_eq(loss().chunks_whole, 1);
}
END_TEST

START_TEST(a_setting_behind_damage_is_found)
{
    jfr_sums *sums;
    jfr_file *again;
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    put_be(&w, 0, 4);
    put_standard_pools(&w);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(next_sample().values[0].value, 10000000);
    expect_no_sample();
    /* Sums need uninterrupted events, so callers read such a chunk by samples. */
    ck_assert_int_eq(jfr_open_mem(&again, w.data, w.len, NULL, &err), 0);
    ck_assert_int_eq(jfr_sums_open(&sums, again, NULL, &err), 0);
    ck_assert_int_eq(jfr_sums_next(sums, &chunk, &err), 1);
    ck_assert_ptr_null(jfr_sums_get_info(sums));
    jfr_sums_close(sums);
    jfr_close(again);
}
END_TEST

START_TEST(nothing_behind_the_last_checkpoint_is_proved)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_standard_pools(&w);
    size_t bad = w.len;
    put_be(&w, 0, 4);
    put_execution(&w, 700, 70, 7, 1);
    end_chunk(&w, &params);
    open_first_chunk();
    expect_no_sample();
    ck_assert_uint_eq(loss().records[0].offset, bad);
    ck_assert_uint_eq(loss().records[0].bytes, w.len - bad);
}
END_TEST

START_TEST(event_beyond_its_chunk_is_lost)
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    size_t bad = w.len;
    put_padded(&w, 1000, 4);
    put_long(&w, 20 + T_EXECUTION);
    end_chunk(&w, &params);
    write_simple_chunk();
    open_first_chunk();
    expect_no_sample();
    ck_assert_uint_eq(loss().records[0].offset, bad);
}
END_TEST

START_TEST(padded_sizes_of_all_widths)
{
    static const unsigned widths[] = {1, 2, 3, 4, 5, 8};
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    for (int i = 0; i < 6; i++) {
        put_padded(&w, widths[i] + 6, widths[i]);
        put_varint(&w, 20 + T_EXECUTION);
        put_varint(&w, 600); /* two bytes */
        put_varint(&w, 70);
        put_varint(&w, 7);
        put_varint(&w, 1);
    }
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(next_sample().time_ns, 1000000100);
    expect_no_sample();
}
END_TEST

START_TEST(plain_integers)
{
    params.plain = true;
    write_simple_chunk();
    open_first_chunk();
    ck_assert(!jfr_chunk_get_info(chunk)->compressed);
    jfr_sample s = next_sample();
    ck_assert_int_eq(s.time_ns, 1000000100);
    ck_assert_uint_eq(s.values[0].value, 10000000);
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, s.stack, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, 2);
    ck_assert_uint_eq(stack.frames[0].line, 42);
    expect_no_sample();
    expect_end();
    ck_assert_uint_eq(loss().chunks_whole, 1);
}
END_TEST

START_TEST(too_many_chunks)
{
    write_simple_chunk();
    size_t second = w.len;
    write_simple_chunk();
    options.max_chunks = 1;
    open_first_chunk();
    ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_chunks"));
    ck_assert_uint_eq(err.offset, second);
    expect_end();
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_LIMIT);
}
END_TEST

static uint8_t *gzip(size_t *len)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, w.len);
    uint8_t *packed = malloc(room);
    ck_assert_ptr_nonnull(packed);
    z.next_in = w.data;
    z.avail_in = (uInt)w.len;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    *len = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

START_TEST(gzip_is_unpacked)
{
    write_simple_chunk();
    write_simple_chunk();
    size_t len;
    uint8_t *packed = gzip(&len);
    ck_assert_int_eq(jfr_open_mem(&file, packed, len, NULL, &err), 0);
    next_chunk();
    (void)next_sample();
    next_chunk();
    (void)next_sample();
    expect_end();
    jfr_close(file);

    options.max_unpacked_bytes = w.len - 1;
    ck_assert_int_eq(jfr_open_mem(&file, packed, len, &options, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_unpacked_bytes"));
    options.max_unpacked_bytes = w.len;
    ck_assert_int_eq(jfr_open_mem(&file, packed, len, &options, &err), 0);
    free(packed);
}
END_TEST

/* Opens two chunks that were packed and damaged. Returns how many can be read. */
static int chunks_of(const uint8_t *packed, size_t len)
{
    int chunks = 0;
    if (jfr_open_mem(&file, packed, len, NULL, &err) < 0) {
        ck_assert_ptr_nonnull(strstr(err.message, "gzip"));
        file = NULL;
        return 0;
    }
    while (jfr_next_chunk(file, &chunk, &err) == 1) {
        (void)next_sample();
        chunks++;
    }
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_GZIP);
    return chunks;
}

/* After a wrong checksum, and with bytes after the end, all packed bytes are available. */
START_TEST(damaged_gzip_keeps_what_came_before)
{
    write_simple_chunk();
    write_simple_chunk();
    size_t len;
    uint8_t *packed = gzip(&len);
    packed[len - 8] ^= 1;
    ck_assert_int_eq(chunks_of(packed, len), 2);
    ck_assert_uint_eq(loss().record_count, 1);
    jfr_close(file);
    packed[len - 8] ^= 1;
    packed = realloc(packed, len + 5);
    ck_assert_ptr_nonnull(packed);
    memcpy(packed + len, "stray", 5);
    ck_assert_int_eq(chunks_of(packed, len + 5), 2);
    ck_assert_uint_eq(loss().record_count, 1);
    ck_assert_uint_eq(loss().records[0].offset, w.len);
    ck_assert_uint_gt(loss().bytes_lost, 0);
    free(packed);
}
END_TEST

START_TEST(gzip_damaged_anywhere_keeps_whole_chunks)
{
    enum { CHUNKS = 40, GZIP_HEADER = 10 };
    for (int i = 0; i < CHUNKS; i++)
        write_simple_chunk();
    size_t len;
    int most = 0;
    uint8_t *packed = gzip(&len);
    for (size_t at = GZIP_HEADER; at < len; at++) {
        packed[at] ^= 0x55;
        if (jfr_open_mem(&file, packed, len, NULL, &err) == 0) {
            int chunks = 0;
            while (jfr_next_chunk(file, &chunk, &err) == 1)
                chunks++;
            ck_assert(chunks == CHUNKS || loss().record_count > 0);
            most = chunks > most ? chunks : most;
            jfr_close(file);
        }
        packed[at] ^= 0x55;
    }
    file = NULL;
    ck_assert_int_gt(most, 10);
    free(packed);
}
END_TEST

START_TEST(cut_gzip_keeps_whole_chunks)
{
    write_simple_chunk();
    write_simple_chunk();
    size_t len;
    uint8_t *packed = gzip(&len);
    for (size_t cut = 2; cut < len; cut++) {
        (void)chunks_of(packed, cut);
        jfr_close(file);
    }
    file = NULL;
    free(packed);
}
END_TEST

/* A cut at the end of a member loses nothing of it; a cut inside the second member is a loss. */
START_TEST(cut_gzip_of_two_members)
{
    write_simple_chunk();
    size_t len;
    uint8_t *one = gzip(&len);
    uint8_t *two = malloc(2 * len);
    ck_assert_ptr_nonnull(two);
    memcpy(two, one, len);
    memcpy(two + len, one, len);
    for (size_t cut = len; cut <= 2 * len; cut++) {
        bool is_whole = cut == len || cut == 2 * len;
        ck_assert_int_eq(jfr_open_mem(&file, two, cut, NULL, &err), 0);
        next_chunk();
        while (jfr_next_chunk(file, &chunk, &err) == 1)
            (void)next_sample();
        ck_assert_int_eq(loss().record_count > 0, !is_whole);
        jfr_close(file);
    }
    file = NULL;
    free(one);
    free(two);
}
END_TEST

START_TEST(opens_files)
{
    char path[] = "/tmp/jfr-file-test-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(jfr_open_file(&file, path, NULL, &err), JFR_ERR_FORMAT); /* empty */
    write_simple_chunk();
    ck_assert_int_eq(write(fd, w.data, w.len), (ssize_t)w.len);
    close(fd);
    ck_assert_int_eq(jfr_open_file(&file, path, NULL, &err), 0);
    unlink(path);
    next_chunk();
    (void)next_sample();
    expect_end();
}
END_TEST

START_TEST(names_files_that_cannot_be_opened)
{
    ck_assert_int_eq(jfr_open_file(&file, "/nonexistent/x.jfr", NULL, &err), JFR_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/x.jfr"));
    ck_assert_int_eq(jfr_open_file(&file, "/", NULL, &err), JFR_ERR_IO);
    ck_assert_ptr_null(file);
}
END_TEST

/* The header of a finished chunk states its end; an open chunk ends with its last event. */
START_TEST(tells_the_time_that_it_covers)
{
    jfr_span span;
    w.rich = true; /* its metadata states which types are events */
    params.start_ns = 5000000000;
    write_simple_chunk();
    params.start_ns = 3000000000; /* the order of chunks need not be that of time */
    write_simple_chunk();
    options.flags = JFR_WALK_UNFINISHED;
    open_first_chunk();
    ck_assert_int_eq(jfr_file_span(file, &span, &err), 1);
    ck_assert_int_eq(span.start_ns, 3000000000);
    ck_assert_int_eq(span.end_ns, 6000000000);
    jfr_close(file);
    params.start_ns = 8000000000;
    params.open = true;
    begin_chunk(&w, &params);
    put_monitor_enter(&w, 700, 40, 5);
    put_execution(&w, 600, 70, 7, 1);
    open_first_chunk();
    ck_assert_int_eq(jfr_file_span(file, &span, &err), 1);
    ck_assert_int_eq(span.start_ns, 3000000000);
    ck_assert_int_eq(span.end_ns, 8000000000 + 700 + 40 - 500);
    (void)next_sample(); /* the file's current chunk is unchanged */
}
END_TEST

START_TEST(a_recording_without_a_chunk_covers_no_time)
{
    jfr_span span;
    params.open = true;
    write_simple_chunk(); /* not walked without the flag */
    open_written();
    ck_assert_int_eq(jfr_file_span(file, &span, &err), 0);
}
END_TEST

START_TEST(close_takes_null)
{
    jfr_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *t = tcase_create("file");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, reads_chunks_in_order);
    tcase_add_test(t, identical_chunks_count_twice);
    tcase_add_test(t, refuses_what_is_no_recording);
    tcase_add_loop_test(t, truncation_at_every_byte_keeps_whole_chunks, 0, 2);
    tcase_add_test(t, truncated_chunk_is_named);
    tcase_add_test(t, open_chunk_is_left_alone);
    tcase_add_test(t, open_chunk_is_walked_when_asked);
    tcase_add_test(t, pools_of_open_chunk_are_used);
    tcase_add_loop_test(t, a_copy_of_the_header_ends_no_cut_chunk, 0, 2);
    tcase_add_test(t, garbage_between_chunks_is_skipped);
    tcase_add_test(t, event_of_size_zero_costs_what_lies_before_the_next_checkpoint);
    tcase_add_test(t, a_setting_behind_damage_is_found);
    tcase_add_test(t, nothing_behind_the_last_checkpoint_is_proved);
    tcase_add_test(t, event_beyond_its_chunk_is_lost);
    tcase_add_test(t, padded_sizes_of_all_widths);
    tcase_add_test(t, plain_integers);
    tcase_add_test(t, too_many_chunks);
    tcase_add_test(t, gzip_is_unpacked);
    tcase_add_test(t, cut_gzip_keeps_whole_chunks);
    tcase_add_test(t, cut_gzip_of_two_members);
    tcase_add_test(t, damaged_gzip_keeps_what_came_before);
    tcase_add_test(t, gzip_damaged_anywhere_keeps_whole_chunks);
    tcase_add_test(t, opens_files);
    tcase_add_test(t, names_files_that_cannot_be_opened);
    tcase_add_test(t, tells_the_time_that_it_covers);
    tcase_add_test(t, a_recording_without_a_chunk_covers_no_time);
    tcase_add_test(t, close_takes_null);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
