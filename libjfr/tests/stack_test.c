#include "frames.h"

#include "fixture.h"

#include <stdlib.h>
#include <string.h>

START_TEST(frames_leaf_first)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_sample s = next_sample();
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, s.stack, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, 2);
    ck_assert(!stack.truncated);
    assert_str(stack.frames[0].method->class_name, "java.util.HashMap");
    assert_str(stack.frames[0].method->name, "put");
    assert_str(stack.frames[0].method->descriptor, "(I)V");
    ck_assert_uint_eq(stack.frames[0].line, 42);
    ck_assert_int_eq(stack.frames[0].kind, JFR_FRAME_JAVA);
    ck_assert_int_eq(stack.frames[0].tier, JFR_TIER_JIT);
    ck_assert_uint_eq(stack.frames[1].line, 7);
    ck_assert_int_eq(stack.frames[1].tier, JFR_TIER_INTERPRETED);
    ck_assert_ptr_eq(stack.frames[0].method, stack.frames[1].method);
    ck_assert_uint_eq(stack.frames[0].method_index, 0);
}
END_TEST

static const struct {
    jfr_frame_kind kind;
    jfr_frame_tier tier;
} async_frames[] = {
    {JFR_FRAME_JAVA, JFR_TIER_INTERPRETED}, {JFR_FRAME_JAVA, JFR_TIER_JIT},
    {JFR_FRAME_JAVA, JFR_TIER_INLINED},     {JFR_FRAME_NATIVE, JFR_TIER_NONE},
    {JFR_FRAME_JVM, JFR_TIER_NONE},         {JFR_FRAME_KERNEL, JFR_TIER_NONE},
    {JFR_FRAME_JAVA, JFR_TIER_C1},          {JFR_FRAME_UNKNOWN, JFR_TIER_NONE},
    {JFR_FRAME_UNKNOWN, JFR_TIER_NONE}, /* "[unknown_Java]" */
};

START_TEST(frame_kinds_by_name)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, 1, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, 9);
    ck_assert(stack.truncated);
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(stack.frames[i].kind, async_frames[i].kind);
        ck_assert_int_eq(stack.frames[i].tier, async_frames[i].tier);
    }
    assert_str(stack.frames[3].method->name, "memcpy");
    assert_str(stack.frames[3].method->class_name, "");
}
END_TEST

struct learner {
    uint32_t asked;
    uint32_t patience; /* how often it answers */
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

static jfr_frame_memo *new_memo(struct learner *learner)
{
    jfr_frame_memo_options how = JFR_FRAME_MEMO_OPTIONS_INIT;
    jfr_frame_memo *memo;
    how.learn = learn;
    how.ctx = learner;
    ck_assert_int_eq(jfr_frame_memo_new(&memo, &how, &err), 0);
    return memo;
}

/* Reads stack 1, whose frames the memo's caller is then asked for. */
static void read_values(jfr_frame_memo *memo)
{
    jfr_frame_ref refs[9];
    uint32_t values[9];
    jfr_stack_ref stack;
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 1, refs, 9, &stack, &err), 0);
    ck_assert_int_eq(jfr_chunk_stack_values(chunk, 1, memo, values, 9, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, 9);
    ck_assert(stack.truncated);
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(values[i], refs[i].method * 1000 + refs[i].line);
}

START_TEST(frames_are_learned_once)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 100};
    jfr_frame_memo *memo = new_memo(&learner);
    read_values(memo);
    uint32_t distinct = learner.asked;
    ck_assert_uint_ge(distinct, 1);
    read_values(memo);
    ck_assert_uint_eq(learner.asked, distinct);
    jfr_frame_memo_clear(memo);
    read_values(memo);
    ck_assert_uint_eq(learner.asked, 2 * distinct);
    jfr_frame_memo_free(memo);
}
END_TEST

/* One by one, and from the methods that a whole stack has made known. */
START_TEST(a_frame_is_named_as_in_its_stack)
{
    jfr_frame_ref refs[9];
    jfr_stack_ref ref;
    jfr_frame named[9];
    jfr_method methods[9];
    jfr_stack stack;
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 1, refs, 9, &ref, &err), 0);
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(jfr_chunk_frame(chunk, &refs[i], &named[i], &err), 0);
        methods[i] = *named[i].method;
    }
    ck_assert_int_eq(jfr_chunk_stack(chunk, 1, &stack, &err), 0);
    for (int i = 0; i < 9; i++) {
        const jfr_frame *frame = &stack.frames[i];
        ck_assert_uint_eq(named[i].kind, frame->kind);
        ck_assert_ptr_eq(methods[i].name.data, frame->method->name.data);
        ck_assert_ptr_eq(methods[i].class_name.data, frame->method->class_name.data);
        ck_assert_ptr_eq(methods[i].descriptor.data, frame->method->descriptor.data);
        ck_assert_int_eq(jfr_chunk_frame(chunk, &refs[i], &named[i], &err), 0);
        ck_assert_ptr_eq(named[i].method, frame->method);
    }
}
END_TEST

/* A method's name that has to be converted, and so is kept. */
enum { UMLAUTS = 2000 };

static void put_long_name(void)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, 2);
    put_u8(&w, 5); /* Latin-1 */
    put_int(&w, UMLAUTS);
    for (int i = 0; i < UMLAUTS; i++)
        put_u8(&w, 0xE4);
    end_checkpoint(&w, checkpoint);
}

START_TEST(a_frame_can_be_named_for_ever)
{
    jfr_frame_ref refs[2];
    jfr_stack_ref ref;
    jfr_frame named;
    options.max_decoded_bytes = 1 << 20;
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    put_long_name();
    end_chunk(&w, &params);
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 0, refs, 2, &ref, &err), 0);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(jfr_chunk_frame(chunk, &refs[0], &named, &err), 0);
        ck_assert_uint_eq(named.method->name.len, 2 * UMLAUTS);
    }
}
END_TEST

static void *no_table(void *ctx, size_t size)
{
    (void)ctx;
    return size < 4096 ? malloc(size) : NULL;
}

static void *no_growth(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return new_size < 4096 ? realloc(block, new_size) : NULL;
}

static void drop(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

/* Each frame is asked for then, as often as it comes. */
START_TEST(a_memo_without_memory_learns_all_frames_anew)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 100};
    const jfr_allocator small = {no_table, no_growth, drop, NULL};
    jfr_frame_memo_options how = JFR_FRAME_MEMO_OPTIONS_INIT;
    how.learn = learn;
    how.ctx = &learner;
    how.allocator = &small;
    jfr_frame_memo *memo;
    ck_assert_int_eq(jfr_frame_memo_new(&memo, &how, &err), 0);
    read_values(memo);
    jfr_frame_memo_clear(memo);
    read_values(memo);
    ck_assert_uint_eq(learner.asked, 18);
    jfr_frame_memo_free(memo);
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

/* Checkpoints are read from the last one back: its stack is the first. */
START_TEST(long_frames_are_learned_once)
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    put_long_frames();
    end_chunk(&w, &params);
    open_first_chunk();
    struct learner learner = {.patience = 100};
    jfr_frame_memo *memo = new_memo(&learner);
    for (unsigned turn = 0; turn < 2; turn++) {
        jfr_frame_ref refs[LONG_FRAMES];
        uint32_t values[LONG_FRAMES];
        jfr_stack_ref stack;
        ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 0, refs, LONG_FRAMES, &stack, &err), 0);
        ck_assert_int_eq(jfr_chunk_stack_values(chunk, 0, memo, values, LONG_FRAMES, &stack, &err),
                         0);
        ck_assert_uint_eq(stack.frame_count, LONG_FRAMES);
        for (int i = 0; i < LONG_FRAMES; i++)
            ck_assert_uint_eq(values[i], refs[i].method * 1000 + refs[i].line);
        /* Those of 13 bytes are read each time. */
        ck_assert_uint_eq(learner.asked, LONG_FRAMES + turn * 2);
    }
    jfr_frame_memo_free(memo);
}
END_TEST

/* Frames of 4 to 12 bytes, which end at all places of the blocks that the loops look at; some of
 * them begin as a free slot of the memo does. */
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
    static jfr_frame_ref refs[MIXED_FRAMES];
    static uint32_t values[MIXED_FRAMES];
    jfr_stack_ref stack;
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    put_mixed_frames();
    end_chunk(&w, &params);
    open_first_chunk();
    struct learner learner = {.patience = 2 * MIXED_FRAMES};
    jfr_frame_memo *memo = new_memo(&learner);
    if (_i == 1)
        memo->loop = jfr__values_loop_plain;
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 0, refs, MIXED_FRAMES, &stack, &err), 0);
    for (unsigned turn = 0; turn < 2; turn++) {
        learner.asked = 0;
        ck_assert_int_eq(jfr_chunk_stack_values(chunk, 0, memo, values, MIXED_FRAMES, &stack, &err),
                         0);
        ck_assert_uint_eq(stack.frame_count, MIXED_FRAMES);
        for (int i = 0; i < MIXED_FRAMES; i++)
            ck_assert_uint_eq(values[i], refs[i].method * 1000 + refs[i].line);
    }
    ck_assert_uint_lt(learner.asked, MIXED_FRAMES / 10); /* few find no place in the table */
    jfr_frame_memo_free(memo);
}
END_TEST

START_TEST(who_cannot_learn_a_frame_gives_the_stack_up)
{
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    struct learner learner = {.patience = 0};
    jfr_frame_memo *memo = new_memo(&learner);
    uint32_t values[9];
    jfr_stack_ref stack;
    ck_assert_int_eq(jfr_chunk_stack_values(chunk, 1, memo, values, 9, &stack, &err), 1);
    ck_assert_int_eq(jfr_chunk_stack_values(chunk, 99, memo, values, 9, &stack, &err),
                     JFR_ERR_USAGE);
    jfr_frame_memo_free(memo);
    jfr_frame_memo_options how = JFR_FRAME_MEMO_OPTIONS_INIT;
    ck_assert_int_eq(jfr_frame_memo_new(&memo, NULL, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_frame_memo_new(&memo, &how, &err), JFR_ERR_USAGE);
}
END_TEST

START_TEST(jdk_native_is_a_java_method)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, 1, &stack, &err), 0);
    ck_assert_int_eq(stack.frames[3].kind, JFR_FRAME_JAVA);
    ck_assert_int_eq(stack.frames[3].tier, JFR_TIER_NATIVE);
}
END_TEST

START_TEST(deep_stack_is_cut_at_its_root)
{
    options.max_stack_frames = 1;
    write_simple_chunk();
    open_first_chunk();
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, 0, &stack, &err), 0);
    ck_assert_uint_eq(stack.frame_count, 1);
    ck_assert_uint_eq(stack.frames[0].line, 42);
    ck_assert(stack.truncated);
}
END_TEST

static const char *const class_names[] = {
    "java.util.HashMap",
    "int[][]",
    "java.lang.String[]",
    "java.util.concurrent.locks.ReentrantLock$NonfairSync",
    "java.util.concurrent.FutureTask",
    "",
    "java.util.HashMap",
};

START_TEST(class_names_as_in_source)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_class klass;
    ck_assert_uint_eq(jfr_chunk_class_count(chunk), 7);
    ck_assert_int_eq(jfr_chunk_class(chunk, (uint32_t)_i, &klass, &err), 0);
    assert_str(klass.name, class_names[_i]);
}
END_TEST

START_TEST(threads)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_thread thread;
    ck_assert_uint_eq(jfr_chunk_thread_count(chunk), 2);
    ck_assert_int_eq(jfr_chunk_thread(chunk, 0, &thread, &err), 0);
    ck_assert_int_eq(thread.os_tid, 1234);
    ck_assert_int_eq(thread.java_tid, 1);
    assert_str(thread.os_name, "os-main");
    assert_str(thread.java_name, "main");
    assert_str(thread.group, "workers");
    ck_assert(!thread.is_virtual);
    ck_assert_int_eq(jfr_chunk_thread(chunk, 1, &thread, &err), 0);
    assert_str(thread.os_name, "GC Thread#0");
    ck_assert_ptr_null(thread.java_name.data);
    ck_assert_ptr_null(thread.group.data);
    ck_assert(thread.is_virtual);
}
END_TEST

START_TEST(wrong_indices_are_refused)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_stack stack;
    jfr_class klass;
    jfr_thread thread;
    jfr_setting setting;
    ck_assert_uint_eq(jfr_chunk_stack_count(chunk), 2);
    ck_assert_int_eq(jfr_chunk_stack(chunk, 2, &stack, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_stack(chunk, JFR_NONE, &stack, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_class(chunk, 7, &klass, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_thread(chunk, 2, &thread, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_setting(chunk, 1, &setting, NULL), JFR_ERR_USAGE);
}
END_TEST

static void write_dangling_stack(void)
{
    begin_chunk(&w, &params);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 1);
    put_u8(&w, 0);
    put_int(&w, 1);
    put_long(&w, 4711); /* no such method */
    put_int(&w, 3);
    put_int(&w, 0);
    put_long(&w, 1000); /* no such frame type */
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
}

START_TEST(missing_method_is_no_error)
{
    write_dangling_stack();
    open_first_chunk();
    jfr_stack stack;
    ck_assert_int_eq(jfr_chunk_stack(chunk, 0, &stack, &err), 0);
    ck_assert_uint_eq(stack.frames[0].method_index, JFR_NONE);
    ck_assert_ptr_null(stack.frames[0].method->name.data);
    ck_assert_int_eq(stack.frames[0].kind, JFR_FRAME_UNKNOWN);
    ck_assert_uint_eq(stack.frames[0].line, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stack");
    TCase *t = tcase_create("stack");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, frames_leaf_first);
    tcase_add_test(t, frame_kinds_by_name);
    tcase_add_test(t, a_frame_is_named_as_in_its_stack);
    tcase_add_test(t, a_frame_can_be_named_for_ever);
    tcase_add_test(t, frames_are_learned_once);
    tcase_add_test(t, a_memo_without_memory_learns_all_frames_anew);
    tcase_add_test(t, long_frames_are_learned_once);
    tcase_add_loop_test(t, frames_of_all_lengths_are_told_apart, 0, 2);
    tcase_add_test(t, who_cannot_learn_a_frame_gives_the_stack_up);
    tcase_add_test(t, jdk_native_is_a_java_method);
    tcase_add_test(t, deep_stack_is_cut_at_its_root);
    tcase_add_loop_test(t, class_names_as_in_source, 0, 7);
    tcase_add_test(t, threads);
    tcase_add_test(t, wrong_indices_are_refused);
    tcase_add_test(t, missing_method_is_no_error);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
