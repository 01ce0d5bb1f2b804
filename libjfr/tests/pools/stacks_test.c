/* SPDX-License-Identifier: Apache-2.0 */
#include "pools/stacks_impl.h"

#include "support/fixture.h"

#include <stdlib.h>

struct learner {
    uint32_t asked;
    uint32_t patience; /* how many frames it numbers before it abandons a stack */
};

static int learn(void *ctx, const jfr_frame_ref *frame, uint32_t *value)
{
    struct learner *learner = ctx;
    if (learner->asked == learner->patience)
        return -1;
    learner->asked++;
    *value = frame->method * 1000 + frame->line;
    return 0;
}

static jfr_stacks *open_stacks(struct learner *learner)
{
    jfr_stacks *stacks;
    ck_assert_int_eq(jfr_stacks_open(&stacks, chunk, learn, learner, &err), 0);
    return stacks;
}

/* Reads a stack and lets the learner number its frames. */
static jfr_stack_ref read_stack(jfr_stacks *stacks, uint32_t index, uint32_t count)
{
    jfr_frame_ref *refs = calloc(count, sizeof(*refs));
    uint32_t *values = calloc(count, sizeof(*values));
    jfr_stack_ref stack;
    ck_assert_ptr_nonnull(refs);
    ck_assert_ptr_nonnull(values);
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, index, refs, count, &stack, &err), 0);
    ck_assert_int_eq(jfr_stacks_read(stacks, index, values, count, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(values[i], refs[i].method * 1000 + refs[i].line);
    free(refs);
    free(values);
    return stack;
}

/* Opens a chunk with these stacks. Checkpoints are read backwards, so they are the chunk's first
 * stacks. */
static void open_with(void (*put_stacks)(void))
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    put_stacks();
    end_chunk(&w, &params);
    open_first_chunk();
}

/* Reads the stack of write_simple_chunk. */
static void read_values(jfr_stacks *stacks)
{
    ck_assert(read_stack(stacks, 1, 9).truncated);
}

START_TEST(frames_are_learned_once)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 100};
    jfr_stacks *stacks = open_stacks(&learner);
    read_values(stacks);
    uint32_t distinct = learner.asked;
    ck_assert_uint_ge(distinct, 1);
    read_values(stacks);
    ck_assert_uint_eq(learner.asked, distinct);
    jfr_stacks_close(stacks);
}
END_TEST

/* Without memory for a cache, each frame is requested every time. */
START_TEST(without_memory_all_frames_are_asked_for_anew)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 100};
    size_t most = 4096;
    const jfr_allocator small = small_blocks(&most);
    jfr_allocator of_file = file->allocator;
    file->allocator = small;
    jfr_stacks *stacks = open_stacks(&learner);
    file->allocator = of_file;
    read_values(stacks);
    read_values(stacks);
    ck_assert_uint_eq(learner.asked, 18);
    jfr_stacks_close(stacks);
}
END_TEST

/* Frames of 7 to 13 bytes, two of each length, which differ in their byte code index. */
enum { SHORTEST = 7, LONGEST = 13, LONG_FRAMES = 2 * (LONGEST - SHORTEST + 1) };

static void put_long_frames(void)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 11);
    put_u8(&w, 0);
    put_int(&w, LONG_FRAMES);
    for (unsigned i = 0; i < LONG_FRAMES; i++) {
        unsigned method_bytes = SHORTEST + i / 2 - 5;
        put_long(&w, UINT64_C(1) << 7 * (method_bytes - 1));
        put_int(&w, 300);
        put_int(&w, 200 + i % 2);
        put_long(&w, 1);
    }
    end_checkpoint(&w, checkpoint);
}

START_TEST(long_frames_are_learned_once)
{
    open_with(put_long_frames);
    struct learner learner = {.patience = 100};
    jfr_stacks *stacks = open_stacks(&learner);
    for (unsigned turn = 0; turn < 2; turn++) {
        (void)read_stack(stacks, 0, LONG_FRAMES);
        /* Frames of 13 bytes are requested each time. */
        ck_assert_uint_eq(learner.asked, LONG_FRAMES + turn * 2);
    }
    jfr_stacks_close(stacks);
}
END_TEST

/* Frames of 4 to 12 bytes, which end at every position of the loops' blocks; some of them begin
 * with the value that marks a free slot. */
enum { MIXED_FRAMES = 1500 };

static void put_mixed_frames(void)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 11);
    put_u8(&w, 0);
    put_int(&w, MIXED_FRAMES);
    for (unsigned i = 0; i < MIXED_FRAMES; i++) {
        for (int k = 0; k < 12 && i % 50 == 49; k++)
            put_u8(&w, k < 8 ? 0xFF : 0);
        if (i % 50 == 49)
            continue;
        put_long(&w, UINT64_C(1) << i % 6 * 7);
        put_int(&w, i % 11 < 3 ? i % 128 : 128 + i % 91);
        put_int(&w, UINT32_C(1) << i % 3 * 7);
        put_long(&w, i % 7);
    }
    end_checkpoint(&w, checkpoint);
}

START_TEST(frames_of_all_lengths_are_told_apart)
{
    open_with(put_mixed_frames);
    struct learner learner = {.patience = 2 * MIXED_FRAMES};
    jfr_stacks *stacks = open_stacks(&learner);
    if (_i == 1)
        stacks->loop = jfr__values_loop_plain;
    (void)read_stack(stacks, 0, MIXED_FRAMES);
    learner.asked = 0;
    (void)read_stack(stacks, 0, MIXED_FRAMES);
    ck_assert_uint_lt(learner.asked, MIXED_FRAMES / 10); /* few find no place in the table */
    jfr_stacks_close(stacks);
}
END_TEST

/* Frames with many different lines, in stacks of some hundred frames. */
enum { DEEP_STACKS = 12, DEEP_FRAMES = 500 };

static void put_deep_stacks(void)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STACK, DEEP_STACKS);
    for (unsigned i = 0; i < DEEP_STACKS; i++) {
        put_long(&w, 100 + i);
        put_u8(&w, 0);
        put_int(&w, DEEP_FRAMES);
        for (unsigned line = 0; line < DEEP_FRAMES; line++) {
            put_long(&w, 1);
            put_int(&w, i * DEEP_FRAMES + line);
            put_int(&w, 0);
            put_long(&w, 1);
        }
    }
    end_checkpoint(&w, checkpoint);
}

/* The table grows with its frames, so after some turns few are requested. */
START_TEST(most_frames_are_known_after_some_turns)
{
    open_with(put_deep_stacks);
    struct learner learner = {.patience = UINT32_MAX};
    jfr_stacks *stacks = open_stacks(&learner);
    uint32_t asked = 0;
    for (unsigned turn = 0; turn < 6; turn++) {
        asked = learner.asked;
        for (uint32_t i = 0; i < DEEP_STACKS; i++)
            (void)read_stack(stacks, i, DEEP_FRAMES);
    }
    ck_assert_uint_lt(learner.asked - asked, DEEP_STACKS * DEEP_FRAMES / 20);
    jfr_stacks_close(stacks);
}
END_TEST

START_TEST(a_frame_without_a_number_gives_the_stack_up)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 0};
    jfr_stacks *stacks = open_stacks(&learner);
    uint32_t values[9];
    jfr_stack_ref stack;
    ck_assert_int_eq(jfr_stacks_read(stacks, 1, values, 9, &stack, &err), 1);
    ck_assert_int_eq(jfr_stacks_read(stacks, 99, values, 9, &stack, &err), JFR_ERR_USAGE);
    jfr_stacks_close(stacks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stacks");
    TCase *t = tcase_create("stacks");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, frames_are_learned_once);
    tcase_add_test(t, without_memory_all_frames_are_asked_for_anew);
    tcase_add_test(t, long_frames_are_learned_once);
    tcase_add_loop_test(t, frames_of_all_lengths_are_told_apart, 0, 2);
    tcase_add_test(t, most_frames_are_known_after_some_turns);
    tcase_add_test(t, a_frame_without_a_number_gives_the_stack_up);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
