/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

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

static void expect_names(const jfr_method *named, const jfr_method *whole)
{
    ck_assert_ptr_eq(named->name.data, whole->name.data);
    ck_assert_ptr_eq(named->class_name.data, whole->class_name.data);
    ck_assert_ptr_null(named->descriptor.data);
    ck_assert_ptr_nonnull(whole->descriptor.data);
}

/* Frames are named one by one, and from the methods that a whole stack has decoded. */
START_TEST(a_frame_is_named_as_in_its_stack)
{
    jfr_frame_ref refs[9];
    jfr_stack_ref ref;
    jfr_frame named;
    uint8_t kinds[9];
    jfr_method methods[9];
    jfr_stack stack;
    params.async = true;
    write_simple_chunk();
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_stack_refs(chunk, 1, refs, 9, &ref, &err), 0);
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(jfr_chunk_frame(chunk, &refs[i], &named, &err), 0);
        kinds[i] = named.kind;
        methods[i] = *named.method;
    }
    ck_assert_int_eq(jfr_chunk_stack(chunk, 1, &stack, &err), 0);
    for (int i = 0; i < 9; i++) {
        const jfr_frame *frame = &stack.frames[i];
        ck_assert_uint_eq(kinds[i], frame->kind);
        expect_names(&methods[i], frame->method);
        ck_assert_int_eq(jfr_chunk_frame(chunk, &refs[i], &named, &err), 0);
        expect_names(named.method, frame->method);
    }
}
END_TEST

/* A method's name that must be converted and is therefore kept. */
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
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->class_count, 7);
    ck_assert_int_eq(jfr_chunk_class(chunk, (uint32_t)_i, &klass, &err), 0);
    assert_str(klass.name, class_names[_i]);
}
END_TEST

START_TEST(threads)
{
    write_simple_chunk();
    open_first_chunk();
    jfr_thread thread;
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->thread_count, 2);
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
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->stack_count, 2);
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
    tcase_add_test(t, jdk_native_is_a_java_method);
    tcase_add_test(t, deep_stack_is_cut_at_its_root);
    tcase_add_loop_test(t, class_names_as_in_source, 0, 7);
    tcase_add_test(t, threads);
    tcase_add_test(t, wrong_indices_are_refused);
    tcase_add_test(t, missing_method_is_no_error);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
