/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "memory_impl.h"
#include "read/input_impl.h"

#include <stdlib.h>
#include <string.h>

writer w;
chunk_params params;
jfr_options options;
jfr_file *file;
jfr_chunk *chunk;
jfr_error err;

void fixture_setup(void)
{
    w = (writer){.data = NULL};
    params = (chunk_params)CHUNK_PARAMS_INIT;
    options = (jfr_options)JFR_OPTIONS_INIT;
    err = (jfr_error){.code = 0};
}

void fixture_teardown(void)
{
    jfr_close(file);
    file = NULL;
    writer_free(&w);
}

void open_written(void)
{
    int rc = jfr_open_mem(&file, w.data, w.len, &options, &err);
    ck_assert_msg(rc == 0, "open: %s", err.message);
}

void next_chunk(void)
{
    int rc = jfr_next_chunk(file, &chunk, &err);
    jfr_loss l = loss();
    ck_assert_msg(rc == 1, "next chunk: %d %s; %zu losses", rc, err.message, l.record_count);
}

void open_first_chunk(void)
{
    open_written();
    next_chunk();
}

static void *small_alloc(void *ctx, size_t size)
{
    return size < *(const size_t *)ctx ? malloc(size) : NULL;
}

static void *small_realloc(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)old_size;
    return new_size < *(const size_t *)ctx ? realloc(block, new_size) : NULL;
}

static void small_free(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

jfr_allocator small_blocks(size_t *most)
{
    return (jfr_allocator){small_alloc, small_realloc, small_free, most};
}

jfr_sample next_sample(void)
{
    jfr_sample s;
    int rc = jfr_samples_next(chunk, &s, &err);
    ck_assert_msg(rc == 1, "next sample: %d %s", rc, err.message);
    return s;
}

void expect_no_sample(void)
{
    jfr_sample s;
    ck_assert_int_eq(jfr_samples_next(chunk, &s, &err), 0);
}

void expect_end(void)
{
    ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), 0);
}

jfr_chunk_stats stats(void)
{
    jfr_chunk_stats s;
    jfr_chunk_get_stats(chunk, &s);
    return s;
}

jfr_loss loss(void)
{
    jfr_loss l;
    jfr_file_loss(file, &l);
    return l;
}

void expect_decoded_limit(int (*step)(void))
{
    bool failed = false;
    int rc = JFR_ERR_LIMIT;
    for (uint64_t max = 64 << 10; rc == JFR_ERR_LIMIT; max += 64 << 10) {
        options.max_decoded_bytes = max;
        open_written();
        if (jfr_next_chunk(file, &chunk, &err) == 1) {
            rc = step();
            failed = failed || rc == JFR_ERR_LIMIT;
        }
        jfr_close(file);
        file = NULL;
    }
    ck_assert_int_eq(rc, 0);
    ck_assert(failed);
    ck_assert_ptr_nonnull(strstr(err.message, "max_decoded_bytes"));
}

uint32_t take_turn(void *ctx)
{
    parts_turn *t = ctx;
    uint32_t part = t->next;
    t->next += t->step;
    return part;
}

void *unpack_file(const char *path, size_t *len)
{
    void *packed;
    size_t packed_len;
    jfr__unpacked whole;
    ck_assert_int_eq(jfr__map_file(&packed, &packed_len, path, &err), 0);
    ck_assert_int_eq(jfr__gunzip(&whole, packed, packed_len, 1 << 24, &jfr__malloc, &err), 0);
    ck_assert(!whole.damaged);
    jfr__unmap_file(packed, packed_len);
    *len = whole.len;
    void *bytes = realloc(whole.data, whole.len);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

void write_simple_chunk(void)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    end_chunk(&w, &params);
}
