/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <string.h>

/* Writes a pool of a type that the library does not use, with every kind of field. */
static void put_weird_pool(void)
{
    begin_pool(&w, T_WEIRD, 2);
    for (int i = 0; i < 2; i++) {
        put_long(&w, 1000 + (uint64_t)i);
        put_varint(&w, 0x20AC); /* char */
        put_varint(&w, 12);     /* short */
        put_be(&w, 0x3F800000, 4);
        put_be(&w, 0x3FF0000000000000, 8);
        put_long(&w, 1); /* inner.type */
        put_long(&w, 2);
        put_long(&w, 3);
        put_u8(&w, 0);
        put_int(&w, 3); /* texts */
        put_text(&w, "one");
        put_text(&w, NULL);
        put_text(&w, "three");
        put_int(&w, 4); /* bytes */
        put_bytes(&w, "\xFF\xFF\xFF\xFF", 4);
        put_int(&w, 2); /* frames */
        for (int f = 0; f < 8; f++)
            put_long(&w, UINT64_MAX);
    }
}

START_TEST(unknown_pools_are_skipped_by_metadata)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    size_t checkpoint = begin_checkpoint(&w);
    put_weird_pool();
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, 99);
    put_text(&w, "behind");
    put_weird_pool();
    end_checkpoint(&w, checkpoint);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_ne(next_sample().stack, JFR_NONE);
    ck_assert_uint_eq(stats().unknown_pools, 2);
    ck_assert_uint_eq(stats().undefined_pools, 0);
    expect_no_sample();
    expect_end();
    ck_assert_uint_eq(loss().record_count, 0);
}
END_TEST

/* A pool of a type that the metadata does not define cannot be skipped: the rest of its checkpoint
 * is lost. */
START_TEST(undefined_pool_costs_its_checkpoint_only)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    size_t at = w.len;
    begin_pool(&w, T_COUNT, 1);
    put_long(&w, 1);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_ne(next_sample().stack, JFR_NONE);
    ck_assert_uint_eq(stats().undefined_pools, 1);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_POOLS);
    ck_assert_uint_eq(loss().records[0].offset, at);
    expect_end();
    ck_assert_uint_eq(loss().chunks_partial, 1);
}
END_TEST

/* The same holds for a type with a field of an undefined type. The loss is at the pool, in its
 * chunk. */
START_TEST(pool_with_undefined_field_costs_its_checkpoint_only)
{
    write_simple_chunk();
    w.only = ~(UINT64_C(1) << T_METHOD); /* T_WEIRD has one */
    begin_chunk(&w, &params);
    size_t checkpoint = begin_checkpoint(&w);
    size_t at = w.len;
    put_weird_pool();
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    next_chunk();
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_POOLS);
    ck_assert_uint_eq(loss().records[0].offset, at);
    expect_end();
    ck_assert_uint_eq(loss().chunks_partial, 1);
}
END_TEST

START_TEST(entry_over_its_checkpoint_is_reported)
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_SYMBOL, 1000);
    put_long(&w, 500);
    put_text(&w, "kept");
    put_long(&w, 501);
    size_t at = w.len;
    put_u8(&w, 3);
    put_int(&w, 100);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_POOLS);
    ck_assert_uint_eq(loss().records[0].offset, at);
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->stack_count, 2); /* the checkpoint before it */
}
END_TEST

START_TEST(repeated_entries_are_one)
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->stack_count, 2);
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->method_count, 3);
}
END_TEST

START_TEST(too_many_entries)
{
    write_simple_chunk();
    write_simple_chunk();
    options.max_pool_entries = 20;
    open_written();
    for (int i = 0; i < 2; i++) { /* the limit loses a chunk; the next chunk is tried */
        ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), JFR_ERR_LIMIT);
        ck_assert_ptr_nonnull(strstr(err.message, "max_pool_entries"));
        ck_assert_int_eq(loss().records[i].reason, JFR_LOSS_LIMIT);
    }
    expect_end();
    ck_assert_uint_eq(loss().chunks_lost, 2);
}
END_TEST

/* A pooled string. One whose pool entry is again a pooled string must not cause an endless loop. */
START_TEST(strings_of_the_string_pool)
{
    begin_chunk(&w, &params);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STRING, 2);
    put_long(&w, 8);
    put_text(&w, "pooled");
    put_long(&w, 9);
    put_u8(&w, 2);
    put_long(&w, 9);
    begin_pool(&w, T_THREAD, 1);
    put_long(&w, 70);
    put_u8(&w, 2); /* osName: string pool entry 8 */
    put_long(&w, 8);
    put_long(&w, 1);
    put_u8(&w, 2); /* javaName: entry 9, itself in the pool */
    put_long(&w, 9);
    put_long(&w, 1);
    put_long(&w, 0);
    put_u8(&w, 0);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    jfr_thread thread;
    ck_assert_int_eq(jfr_chunk_thread(chunk, 0, &thread, &err), 0);
    assert_str(thread.os_name, "pooled");
    ck_assert_ptr_null(thread.java_name.data);
}
END_TEST

START_TEST(chain_that_points_nowhere_is_reported)
{
    begin_chunk(&w, &params);
    put_execution(&w, 600, 70, 7, 1);
    w.last_pool = w.len; /* the header will point at a metadata-like event */
    size_t event = begin_event(&w, T_EXECUTION);
    end_event(&w, event);
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_POOLS);
    ck_assert_uint_eq(loss().records[0].offset, event);
}
END_TEST

/* Deltas that point forwards, to the checkpoint itself, or before the chunk: the chain must end. */
START_TEST(chain_only_goes_backwards)
{
    static const uint64_t deltas[] = {1, UINT64_C(1) << 40, (uint64_t)-100000, UINT64_C(1) << 63};
    begin_chunk(&w, &params);
    put_empty_checkpoint(&w, deltas[_i]);
    end_chunk(&w, &params);
    open_first_chunk();
    expect_no_sample();
}
END_TEST

/* A checkpoint that overlaps the next one. */
START_TEST(overlapping_checkpoints_are_refused)
{
    begin_chunk(&w, &params);
    size_t first = w.len;
    put_empty_checkpoint(&w, 0);
    put_standard_pools(&w);
    put_padded(&w, 200, 4);
    memcpy(w.data + first, w.data + w.len - 4, 4); /* its size now covers the bytes that follow */
    w.len -= 4;
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->stack_count, 2);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_POOLS);
    ck_assert_uint_eq(loss().records[0].offset, first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *t = tcase_create("pool");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, unknown_pools_are_skipped_by_metadata);
    tcase_add_test(t, undefined_pool_costs_its_checkpoint_only);
    tcase_add_test(t, pool_with_undefined_field_costs_its_checkpoint_only);
    tcase_add_test(t, entry_over_its_checkpoint_is_reported);
    tcase_add_test(t, repeated_entries_are_one);
    tcase_add_test(t, too_many_entries);
    tcase_add_test(t, strings_of_the_string_pool);
    tcase_add_test(t, chain_that_points_nowhere_is_reported);
    tcase_add_loop_test(t, chain_only_goes_backwards, 0, 4);
    tcase_add_test(t, overlapping_checkpoints_are_refused);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
