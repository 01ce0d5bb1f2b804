/* SPDX-License-Identifier: Apache-2.0 */
#include "support/anything.h"

static jfr_variant follow(const jfr_event *event, const char *path)
{
    jfr_variant v;
    int rc = jfr_variant_path(chunk, &event->value, path, &v, &err);
    ck_assert_msg(rc == 1, "%s: %d %s", path, rc, err.message);
    return v;
}

static const struct {
    const char *path;
    jfr_variant_kind kind;
    int64_t integer;
    double number;
    const char *text;
} rows[] = {
    {"startTime", JFR_VARIANT_INTEGER, 700, 0, NULL},
    {"flag", JFR_VARIANT_BOOLEAN, 1, 0, NULL},
    {"small", JFR_VARIANT_INTEGER, 254, 0, NULL}, /* unsigned */
    {"letter", JFR_VARIANT_CHAR, 'x', 0, NULL},
    {"amount", JFR_VARIANT_INTEGER, 1000, 0, NULL},
    {"ratio", JFR_VARIANT_FLOAT, 0, (double)0.1f, NULL},
    {"precise", JFR_VARIANT_DOUBLE, 0, -2.5, NULL},
    {"text", JFR_VARIANT_STRING, 0, 0, "hi"},
    {"none", JFR_VARIANT_NULL, 0, 0, NULL},
    {"pooled", JFR_VARIANT_STRING, 0, 0, "pooled"},
    {"state", JFR_VARIANT_STRING, 0, 0, "STATE_RUNNABLE"},
    {"eventThread.javaName", JFR_VARIANT_STRING, 0, 0, "main"},
    {"eventThread.group.name", JFR_VARIANT_STRING, 0, 0, "workers"},
    {"eventThread.group.parent", JFR_VARIANT_NULL, 0, 0, NULL},
    {"eventThread.group.parent.parent.name", JFR_VARIANT_NULL, 0, 0, NULL},
    {"stackTrace.frames[0].lineNumber", JFR_VARIANT_INTEGER, 42, 0, NULL},
    {"stackTrace.frames[1].lineNumber", JFR_VARIANT_INTEGER, 7, 0, NULL},
    {"stackTrace.frames[1].method.type.name", JFR_VARIANT_STRING, 0, 0, "java/util/HashMap"},
    {"stackTrace.frames[2].lineNumber", JFR_VARIANT_NULL, 0, 0, NULL},
    {"weird.c", JFR_VARIANT_CHAR, 'c', 0, NULL},
    {"weird.s", JFR_VARIANT_INTEGER, -1, 0, NULL},
    {"weird.d", JFR_VARIANT_DOUBLE, 0, 0.25, NULL},
    {"weird.inner.name", JFR_VARIANT_STRING, 0, 0, "put"},
    {"weird.inner.hidden", JFR_VARIANT_BOOLEAN, 1, 0, NULL},
    {"weird.texts[0]", JFR_VARIANT_STRING, 0, 0, "x"},
    {"weird.texts[1]", JFR_VARIANT_NULL, 0, 0, NULL},
    {"weird.bytes[1]", JFR_VARIANT_INTEGER, 8, 0, NULL},
    {"weird.frames[0].method.descriptor", JFR_VARIANT_STRING, 0, 0, "(I)V"},
    {"numbers[2]", JFR_VARIANT_INTEGER, 3, 0, NULL},
    {"names[1]", JFR_VARIANT_STRING, 0, 0, "b"},
    {"span", JFR_VARIANT_INTEGER, 5, 0, NULL},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* The first half with compressed integers, the second with plain ones. */
START_TEST(any_field_by_its_path)
{
    jfr_event event = open_anything(_i >= ROWS);
    int i = _i % ROWS;
    jfr_variant v = follow(&event, rows[i].path);
    ck_assert_int_eq(v.kind, rows[i].kind);
    if (v.kind == JFR_VARIANT_STRING)
        assert_str(v.text, rows[i].text);
    else if (v.kind == JFR_VARIANT_FLOAT || v.kind == JFR_VARIANT_DOUBLE)
        ck_assert(v.number == rows[i].number);
    else if (v.kind != JFR_VARIANT_NULL)
        ck_assert_int_eq(v.integer, rows[i].integer);
}
END_TEST

START_TEST(structs_and_arrays)
{
    jfr_event event = open_anything(false);
    jfr_variant v = follow(&event, "numbers");
    ck_assert_int_eq(v.kind, JFR_VARIANT_ARRAY);
    ck_assert_uint_eq(v.count, 3);
    ck_assert_uint_eq(v.type, T_INT);
    jfr_variant second;
    ck_assert_int_eq(jfr_variant_element(chunk, &v, 1, &second, &err), 0);
    ck_assert_int_eq(second.integer, 2);
    ck_assert_int_eq(jfr_variant_element(chunk, &v, 3, &second, &err), JFR_ERR_USAGE);
    v = follow(&event, "eventThread");
    ck_assert_int_eq(v.kind, JFR_VARIANT_STRUCT);
    ck_assert_uint_eq(v.type, T_THREAD);
    jfr_variant os_id;
    ck_assert_int_eq(jfr_variant_field(chunk, &v, 1, &os_id, &err), 0);
    ck_assert_int_eq(os_id.integer, 1234);
    ck_assert_int_eq(jfr_variant_field(chunk, &v, 99, &os_id, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_variant_field(chunk, &os_id, 0, &v, &err), JFR_ERR_USAGE);
}
END_TEST

static const char *const absent[] = {
    "nothing", "eventThread.nothing", "numbers.x", "text[0]",
    "flag.x",  "state.name",          "weird[0]",  "numbers[0][1]"};

START_TEST(path_that_the_types_do_not_have)
{
    jfr_event event = open_anything(false);
    jfr_variant v;
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, absent[_i], &v, &err), 0);
}
END_TEST

/* Changes a field's name in the metadata to another one of the same length. */
static void rename_field(const char *from, const char *to)
{
    size_t len = strlen(from);
    unsigned renamed = 0;
    for (size_t i = 0; i + len <= w.len; i++) {
        if (memcmp(w.data + i, from, len) == 0) {
            memcpy(w.data + i, to, len);
            renamed++;
        }
    }
    ck_assert_uint_eq(renamed, 1);
}

static jfr_event open_names_with_dots(void)
{
    write_anything(false);
    rename_field("numbers", "num.ers");
    rename_field("precise", "weird.c"); /* beside the char `c` of the struct `weird` */
    rename_field("letter", "ratio.");
    return open_first_event();
}

START_TEST(names_with_dots)
{
    jfr_event event = open_names_with_dots();
    jfr_variant v = follow(&event, "num.ers");
    ck_assert_int_eq(v.kind, JFR_VARIANT_ARRAY);
    ck_assert_int_eq(follow(&event, "num.ers[2]").integer, 3);
    ck_assert_int_eq(follow(&event, "ratio").kind, JFR_VARIANT_FLOAT);
    ck_assert_int_eq(follow(&event, "ratio.").kind, JFR_VARIANT_CHAR);
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, "num", &v, &err), 0);
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, "num.er", &v, &err), 0);
}
END_TEST

START_TEST(longest_name_wins_without_a_second_try)
{
    jfr_event event = open_names_with_dots();
    jfr_variant v = follow(&event, "weird.c");
    ck_assert_int_eq(v.kind, JFR_VARIANT_DOUBLE);
    ck_assert_int_eq(follow(&event, "weird.s").kind, JFR_VARIANT_INTEGER);
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, "weird.c.x", &v, &err), 0);
}
END_TEST

static const char *const wrong[] = {"eventThread.", "numbers[", "numbers[]",           "numbers[x]",
                                    "numbers[-1]",  "numbers]", "numbers[99999999999]"};

START_TEST(not_a_path)
{
    jfr_event event = open_anything(false);
    jfr_variant v;
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, wrong[_i], &v, &err), JFR_ERR_USAGE);
}
END_TEST

START_TEST(constants_by_dense_index)
{
    jfr_event event = open_anything(false);
    uint32_t count;
    jfr_variant thread = follow(&event, "eventThread");
    ck_assert_int_eq(jfr_chunk_constant_count(chunk, T_THREAD, &count, &err), 0);
    ck_assert_uint_eq(count, 2);
    jfr_variant same;
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_THREAD, thread.constant, &same, &err), 0);
    ck_assert_uint_eq(same.offset, thread.offset);
    uint64_t id;
    ck_assert_int_eq(jfr_chunk_constant_id(chunk, T_THREAD, thread.constant, &id, &err), 0);
    ck_assert_uint_eq(id, 70);
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_THREAD, 2, &same, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_RICH_COUNT, 0, &same, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_chunk_constant_count(chunk, T_FLOAT, &count, &err), 0);
    ck_assert_uint_eq(count, 0);
}
END_TEST

/* A pool that samples do not use; its string is Latin-1 and must be converted. */
START_TEST(any_pool_is_resolved)
{
    (void)open_anything(false);
    jfr_variant v;
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_STRING, 1, &v, &err), 0);
    assert_str(v.text, "\xC3\xA4");
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_WEIRD, 0, &v, &err), 0);
    ck_assert_int_eq(v.kind, JFR_VARIANT_STRUCT);
}
END_TEST

/* Of two constants with the same id, the one in the earlier checkpoint is used, as in the JDK. */
START_TEST(repeated_constant)
{
    w.rich = true;
    begin_chunk(&w, &params);
    put_anything(&w, 700, 250);
    put_anything_pool(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STRING, 1);
    put_long(&w, 40);
    put_text(&w, "later");
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    open_first_chunk();
    uint32_t count;
    jfr_variant v;
    ck_assert_int_eq(jfr_chunk_constant_count(chunk, T_STRING, &count, &err), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_STRING, 0, &v, &err), 0);
    assert_str(v.text, "pooled");
}
END_TEST

START_TEST(numbers_as_nanoseconds)
{
    jfr_event event = open_anything(false);
    const jfr_chunk_info *clock = jfr_chunk_get_info(chunk);
    const jfr_field *start = jfr_type_field(event.type, "startTime");
    const jfr_field *span = jfr_type_field(event.type, "span");
    const jfr_variant none = {.kind = JFR_VARIANT_INTEGER, .integer = INT64_MIN};
    const jfr_variant forever = {.kind = JFR_VARIANT_INTEGER, .integer = INT64_MAX};
    jfr_variant v = follow(&event, "startTime");
    int64_t ns;
    ck_assert(jfr_variant_time_ns(clock, start, &v, &ns));
    ck_assert_int_eq(ns, 1000000200);
    ck_assert(!jfr_variant_span_ns(clock, start, &v, &ns));
    v = follow(&event, "span");
    ck_assert(jfr_variant_span_ns(clock, span, &v, &ns));
    ck_assert_int_eq(ns, 5000000);
    ck_assert(!jfr_variant_time_ns(clock, span, &v, &ns));
    ck_assert(!jfr_variant_span_ns(clock, span, &none, &ns));
    ck_assert(jfr_variant_span_ns(clock, span, &forever, &ns));
    ck_assert_int_eq(ns, INT64_MAX);
}
END_TEST

START_TEST(value_that_ends_too_soon)
{
    jfr_event event = open_anything(false);
    event.value.end = event.value.offset + 5;
    jfr_variant v;
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, "text", &v, &err), JFR_ERR_FORMAT);
    ck_assert_uint_ge(err.offset, event.offset);
    ck_assert_int_eq(jfr_variant_path(chunk, &event.value, "startTime", &v, &err), 1);
}
END_TEST

static int count_threads(void)
{
    uint32_t count;
    return jfr_chunk_constant_count(chunk, T_THREAD, &count, &err);
}

/* Enough constants to exceed the arena's smallest block. */
START_TEST(constants_pass_their_limit)
{
    enum { MANY = 20000 };
    begin_chunk(&w, &params);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_WEIRD, 0);
    begin_pool(&w, T_STRING, MANY);
    for (uint64_t i = 1; i <= MANY; i++) {
        put_long(&w, i);
        put_text(&w, "x");
    }
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
    expect_decoded_limit(count_threads);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("variant");
    TCase *t = tcase_create("variant");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_add_loop_test(t, any_field_by_its_path, 0, 2 * ROWS);
    tcase_add_test(t, structs_and_arrays);
    tcase_add_loop_test(t, path_that_the_types_do_not_have, 0,
                        (int)(sizeof(absent) / sizeof(absent[0])));
    tcase_add_test(t, names_with_dots);
    tcase_add_test(t, longest_name_wins_without_a_second_try);
    tcase_add_loop_test(t, not_a_path, 0, (int)(sizeof(wrong) / sizeof(wrong[0])));
    tcase_add_test(t, constants_by_dense_index);
    tcase_add_test(t, any_pool_is_resolved);
    tcase_add_test(t, repeated_constant);
    tcase_add_test(t, numbers_as_nanoseconds);
    tcase_add_test(t, value_that_ends_too_soon);
    tcase_add_test(t, constants_pass_their_limit);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
