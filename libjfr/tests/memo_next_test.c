/* SPDX-License-Identifier: Apache-2.0 */
/* Memos that go from chunk to chunk. */
#include "pools/frame_memo_impl.h"

#include "fixture.h"

static uint32_t asked;

static uint32_t add_text(uint32_t value, jfr_str text)
{
    for (size_t i = 0; i < text.len; i++)
        value = value * 31 + (uint8_t)text.data[i];
    return value * 31 + 1;
}

/* A number for all of a frame that is the same in another chunk. */
static uint32_t value_of(const jfr_frame_ref *ref)
{
    jfr_frame frame;
    ck_assert_int_eq(jfr_chunk_frame(chunk, ref, &frame, &err), 0);
    return add_text(add_text(frame.line, frame.method->class_name), frame.method->name) * 64 +
           frame.kind * 8u + frame.tier;
}

static int learn(void *ctx, const jfr_frame_ref *ref, uint32_t *value)
{
    (void)ctx;
    asked++;
    *value = value_of(ref);
    return 0;
}

static jfr_frame_memo *new_memo(const jfr_allocator *allocator)
{
    jfr_frame_memo_options how = JFR_FRAME_MEMO_OPTIONS_INIT;
    jfr_frame_memo *memo;
    how.learn = learn;
    how.allocator = allocator;
    ck_assert_int_eq(jfr_frame_memo_new(&memo, &how, &err), 0);
    return memo;
}

enum { STACKS_MOST = 4096 };

/* Reads all stacks of the chunk, whose values must be those of their frames; returns how often the
 * memo had to ask. */
static uint32_t read_chunk(jfr_frame_memo *memo)
{
    static jfr_frame_ref refs[STACKS_MOST];
    static uint32_t values[STACKS_MOST];
    jfr_stack_ref stack;
    asked = 0;
    for (uint32_t i = 0; i < jfr_chunk_stack_count(chunk); i++) {
        ck_assert_int_eq(jfr_chunk_stack_refs(chunk, i, refs, STACKS_MOST, &stack, &err), 0);
        ck_assert_int_eq(jfr_chunk_stack_values(chunk, i, memo, values, STACKS_MOST, &stack, &err),
                         0);
        for (uint32_t k = 0; k < stack.frame_count; k++)
            ck_assert_uint_eq(values[k], value_of(&refs[k]));
    }
    return asked;
}

/* The standard pools have 11 distinct frames: one of method 3, three of method 2. */
enum { FRAMES = 11, FRAMES_OF_2 = 3, FRAMES_OF_3 = 1 };

/* Entries that are put replace those of the standard pools: checkpoints are read from the last one
 * back. */
static void put_chunk(void (*put_entries)(void))
{
    begin_chunk(&w, &params);
    put_standard_pools(&w);
    if (put_entries != NULL) {
        size_t checkpoint = begin_checkpoint(&w);
        put_entries();
        end_checkpoint(&w, checkpoint);
    }
    end_chunk(&w, &params);
}

/* Reads the first chunk; the memo is then at the second. Returns whether it still knew a frame. */
static bool move_on(jfr_frame_memo *memo)
{
    open_first_chunk();
    ck_assert(!jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_ge(read_chunk(memo), FRAMES);
    next_chunk();
    return jfr_frame_memo_next(memo, chunk);
}

START_TEST(frames_stay_known_as_long_as_chunks_follow)
{
    jfr_frame_memo *memo = new_memo(NULL);
    for (int i = 0; i < 3; i++)
        put_chunk(NULL);
    ck_assert(move_on(memo));
    ck_assert_uint_eq(read_chunk(memo), 0);
    next_chunk();
    ck_assert(jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), 0);
    /* Nothing follows: what another file holds is another recording's. */
    ck_assert(!jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), FRAMES);
    jfr_frame_memo_free(memo);
}
END_TEST

static void put_symbol(uint64_t id, const char *text)
{
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, id);
    put_text(&w, text);
}

static void put_another_name(void)
{
    put_symbol(8, "memmove");
}

static void put_another_class(void)
{
    put_symbol(1, "java/util/TreeMap");
}

START_TEST(a_method_of_other_names_is_another)
{
    jfr_frame_memo *memo = new_memo(NULL);
    put_chunk(NULL);
    put_chunk(_i == 0 ? put_another_name : put_another_class);
    ck_assert(move_on(memo));
    ck_assert_uint_eq(read_chunk(memo), _i == 0 ? FRAMES_OF_2 : FRAMES - FRAMES_OF_2 - FRAMES_OF_3);
    ck_assert_uint_eq(read_chunk(memo), 0);
    jfr_frame_memo_free(memo);
}
END_TEST

static void put_stack_of(uint64_t method)
{
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 11);
    put_u8(&w, 0);
    put_int(&w, 1);
    put_long(&w, method);
    put_int(&w, 5);
    put_int(&w, 0);
    put_long(&w, 1);
}

static void put_method_4(void)
{
    put_stack_of(4);
    begin_pool(&w, T_METHOD, 1);
    put_long(&w, 4);
    put_long(&w, 1);
    put_long(&w, 2);
    put_long(&w, 3);
    put_u8(&w, 0);
}

static void put_no_method_4(void)
{
    put_stack_of(4);
}

/* And it is again when it is back. */
START_TEST(a_method_that_is_missing_is_unknown)
{
    jfr_frame_memo *memo = new_memo(NULL);
    put_chunk(put_method_4);
    put_chunk(put_no_method_4);
    put_chunk(put_method_4);
    put_chunk(NULL);
    ck_assert(move_on(memo));
    ck_assert_uint_eq(read_chunk(memo), 1);
    next_chunk();
    ck_assert(jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), 1);
    jfr_frame_memo_free(memo);
}
END_TEST

static void put_another_type(void)
{
    begin_pool(&w, T_FRAME_TYPE, 1);
    put_long(&w, 1);
    put_text(&w, "Native");
}

/* Of other frame types, by another recorder, with plain integers. */
START_TEST(frames_that_are_written_in_another_way_are_others)
{
    jfr_frame_memo *memo = new_memo(NULL);
    put_chunk(NULL);
    params.async = _i == 1;
    params.plain = _i == 2;
    put_chunk(_i == 0 ? put_another_type : NULL);
    put_chunk(NULL);
    ck_assert(!move_on(memo));
    ck_assert_uint_ge(read_chunk(memo), FRAMES);
    jfr_frame_memo_free(memo);
}
END_TEST

/* Who clears a memo may have gone to another chunk: what it learned there is not of this one. */
START_TEST(a_cleared_memo_knows_nothing_in_the_next_chunk)
{
    jfr_frame_memo *memo = new_memo(NULL);
    for (int i = 0; i < 3; i++)
        put_chunk(i == 1 ? put_another_type : NULL);
    open_first_chunk();
    ck_assert(!jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), FRAMES);
    next_chunk();
    jfr_frame_memo_clear(memo);
    ck_assert_uint_eq(read_chunk(memo), FRAMES);
    next_chunk();
    ck_assert(!jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), FRAMES);
    jfr_frame_memo_free(memo);
}
END_TEST

static void put_long_name(void)
{
    char name[601] = {0};
    memset(name, 'n', sizeof(name) - 1);
    put_symbol(8, name);
}

static void put_pooled_name(void)
{
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, 8);
    put_u8(&w, 2);
    put_long(&w, 40);
    begin_pool(&w, T_STRING, 1);
    put_long(&w, 40);
    put_text(&w, "pooled");
}

static void put_dangling_name(void)
{
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, 8);
    put_u8(&w, 2);
    put_long(&w, 41);
}

/* Thousands of methods may have one long name: it is not compared. Nor is one that is not there. */
START_TEST(methods_whose_names_cannot_be_compared_are_asked_for_again)
{
    void (*const names[])(void) = {put_pooled_name, put_long_name, put_dangling_name};
    jfr_frame_memo *memo = new_memo(NULL);
    for (int i = 0; i < 3; i++)
        put_chunk(names[_i]);
    ck_assert(move_on(memo));
    ck_assert_uint_eq(read_chunk(memo), _i == 0 ? 0 : FRAMES_OF_2);
    jfr_frame_memo_free(memo);
}
END_TEST

/* Of a recording whose methods have other names nearly all are. */
enum { MANY_METHODS = 1000 };
static char letter;

static void put_many_methods(void)
{
    begin_pool(&w, T_SYMBOL, MANY_METHODS);
    for (unsigned i = 0; i < MANY_METHODS; i++) {
        char name[] = "........";
        for (unsigned k = 0, left = i; k < 4; k++, left /= 10)
            name[k] = (char)('0' + left % 10);
        name[4] = i % 20 == 19 ? '.' : letter;
        put_long(&w, 100 + i);
        put_text(&w, name);
    }
    begin_pool(&w, T_METHOD, MANY_METHODS);
    for (unsigned i = 0; i < MANY_METHODS; i++) {
        put_long(&w, 100 + i);
        put_long(&w, 1);
        put_long(&w, 100 + i);
        put_long(&w, 3);
        put_u8(&w, 0);
    }
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 11);
    put_u8(&w, 0);
    put_int(&w, MANY_METHODS);
    for (unsigned i = 0; i < MANY_METHODS; i++) {
        put_long(&w, 100 + i);
        put_int(&w, 5);
        put_int(&w, 0);
        put_long(&w, 1);
    }
}

START_TEST(the_frames_of_another_recording_are_others)
{
    jfr_frame_memo *memo = new_memo(NULL);
    letter = 'a';
    put_chunk(put_many_methods);
    letter = 'b';
    put_chunk(put_many_methods);
    put_chunk(put_many_methods);
    ck_assert(!move_on(memo));
    ck_assert_uint_ge(read_chunk(memo), MANY_METHODS);
    next_chunk();
    ck_assert(jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_lt(read_chunk(memo), MANY_METHODS / 20); /* few find no place in the table */
    jfr_frame_memo_free(memo);
}
END_TEST

/* Values are right then, too. */
START_TEST(a_memo_without_memory_for_methods_asks_again)
{
    const size_t sizes[] = {4096, 10000, 20000};
    size_t most = sizes[_i];
    const jfr_allocator small = small_blocks(&most);
    jfr_frame_memo *memo = new_memo(&small);
    put_chunk(put_many_methods);
    put_chunk(put_many_methods);
    put_chunk(put_many_methods);
    (void)move_on(memo);
    ck_assert_uint_ge(read_chunk(memo), 1);
    jfr_frame_memo_free(memo);
}
END_TEST

/* More methods than are kept in mind, in stacks of some thousand frames each. */
enum { DEEP = 2048, DEEP_STACKS = JFR__MEMO_METHODS / DEEP + 1 };

static void put_too_many_methods(void)
{
    begin_pool(&w, T_METHOD, DEEP * DEEP_STACKS);
    for (unsigned i = 0; i < DEEP * DEEP_STACKS; i++) {
        put_long(&w, 100 + i);
        put_long(&w, 1);
        put_long(&w, 2);
        put_long(&w, 3);
        put_u8(&w, 0);
    }
    begin_pool(&w, T_STACK, DEEP_STACKS);
    for (unsigned i = 0; i < DEEP_STACKS; i++) {
        put_long(&w, 11 + i);
        put_u8(&w, 0);
        put_int(&w, DEEP);
        for (unsigned k = 0; k < DEEP; k++) {
            put_long(&w, 100 + i * DEEP + k);
            put_int(&w, 5);
            put_int(&w, 0);
            put_long(&w, 1);
        }
    }
}

START_TEST(of_very_many_methods_none_is_known)
{
    jfr_frame_memo *memo = new_memo(NULL);
    put_chunk(put_too_many_methods);
    put_chunk(put_too_many_methods);
    put_chunk(NULL);
    put_chunk(NULL);
    ck_assert(!move_on(memo));
    next_chunk();
    ck_assert(!jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), FRAMES);
    next_chunk();
    ck_assert(jfr_frame_memo_next(memo, chunk));
    ck_assert_uint_eq(read_chunk(memo), 0);
    jfr_frame_memo_free(memo);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memo_next");
    TCase *t = tcase_create("memo_next");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_test(t, frames_stay_known_as_long_as_chunks_follow);
    tcase_add_loop_test(t, a_method_of_other_names_is_another, 0, 2);
    tcase_add_test(t, a_method_that_is_missing_is_unknown);
    tcase_add_loop_test(t, frames_that_are_written_in_another_way_are_others, 0, 3);
    tcase_add_test(t, a_cleared_memo_knows_nothing_in_the_next_chunk);
    tcase_add_loop_test(t, methods_whose_names_cannot_be_compared_are_asked_for_again, 0, 3);
    tcase_add_test(t, the_frames_of_another_recording_are_others);
    tcase_add_loop_test(t, a_memo_without_memory_for_methods_asks_again, 0, 3);
    tcase_add_test(t, of_very_many_methods_none_is_known);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
