/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

jfr_stream *stream;
static char path[] = "/tmp/jfr-stream-test-XXXXXX";
int fd = -1;

void stream_setup(void)
{
    fixture_setup();
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
}

void stream_teardown(void)
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

void begin_stream(uint64_t offset)
{
    int rc = jfr_stream_new(&stream, offset, &options, &err);
    ck_assert_msg(rc == 0, "new: %s", err.message);
}

void feed(size_t from, size_t to)
{
    int rc = jfr_stream_feed(stream, w.data + from, to - from, &err);
    ck_assert_msg(rc == 0, "feed: %s", err.message);
}

void make_file(void)
{
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
}

void write_file(size_t len)
{
    ck_assert_int_eq(pwrite(fd, w.data, len, 0), (ssize_t)len);
}

void begin_following(void)
{
    int rc = jfr_stream_follow(&stream, fd, 0, &options, &err);
    ck_assert_msg(rc == 0, "follow: %s", err.message);
}

jfr_loss stream_loss(void)
{
    jfr_loss l;
    jfr_stream_loss(stream, &l);
    return l;
}

void expect_nothing(void)
{
    int rc = jfr_stream_next(stream, &chunk, &err);
    ck_assert_msg(rc == 0, "next: %d %s", rc, rc < 0 ? err.message : "");
}

void expect_chunk(uint64_t offset)
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

void write_three(size_t starts[3])
{
    for (int i = 0; i < 3; i++) {
        starts[i] = w.len;
        params.base = 20 + 100 * (uint32_t)i;
        params.ticks_per_second = 1000000000 + 7 * (uint64_t)i;
        write_simple_chunk();
    }
}
