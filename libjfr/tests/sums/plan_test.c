/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/plan_impl.h"
#include "run_suite.h"

#include <jfr/sample.h>
#include <string.h>

#define STR(text) ((jfr_str){text, sizeof(text) - 1})

static jfr__arena arena;
static jfr_error err;

static void setup(void)
{
    jfr__arena_init(&arena, &jfr__malloc, UINT64_MAX);
}

static void teardown(void)
{
    jfr__arena_free(&arena);
}

static int compile(jfr__plan *plan, jfr__type *types, jfr__field *fields, const jfr__want *wants,
                   size_t want_count)
{
    const jfr__metadata meta = {.types = types, .fields = fields};
    return jfr__plan_compile(plan, &meta, &types[0], wants, want_count, true, 8, &arena, &err);
}

START_TEST(unwanted_neighbours_are_one_step)
{
    jfr__type types[] = {{.name = STR("T"), .field_count = 4}, {.shape = JFR__LONG}};
    jfr__field fields[] = {{.name = STR("a"), .type = 1},
                           {.name = STR("b"), .type = 1},
                           {.name = STR("c"), .type = 1},
                           {.name = STR("d"), .type = 1}};
    const jfr__want wants[] = {{"c", 2, JFR__WANT_INTEGER}};
    jfr__plan plan;
    ck_assert_int_eq(compile(&plan, types, fields, wants, 1), 0);
    ck_assert_uint_eq(plan.count, 3);
    ck_assert_uint_eq(plan.ops[0].n, 2);

    const uint8_t bytes[] = {1, 2, 0x83, 0x01, 4};
    jfr__cursor c = {bytes, bytes, bytes + sizeof(bytes), true, false};
    uint64_t slots[3] = {0};
    jfr__plan_run(&plan, &c, slots);
    ck_assert(!c.failed);
    ck_assert_uint_eq(slots[2], 131);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
}
END_TEST

/* A field with another shape than the wanted one: a number must never be used as an offset. */
START_TEST(field_of_another_shape_is_not_taken)
{
    jfr__type types[] = {
        {.name = STR("T"), .field_count = 3}, {.shape = JFR__LONG}, {.shape = JFR__STRING}};
    jfr__field fields[] = {{.name = STR("text"), .type = 1},
                           {.name = STR("list"), .type = 1},
                           {.name = STR("number"), .type = 2}};
    const jfr__want wants[] = {{"text", 0, JFR__WANT_STRING},
                               {"list", 1, JFR__WANT_ARRAY},
                               {"number", 2, JFR__WANT_INTEGER}};
    jfr__plan plan;
    ck_assert_int_eq(compile(&plan, types, fields, wants, 3), 0);
    const uint8_t bytes[] = {77, 78, 3, 1, 'a'};
    jfr__cursor c = {bytes, bytes, bytes + sizeof(bytes), true, false};
    uint64_t slots[3] = {0};
    jfr__plan_run(&plan, &c, slots);
    ck_assert(!c.failed);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(slots[i], 0);
}
END_TEST

/* The op after an array is no part of its body. */
START_TEST(array_body_ends_where_it_ends)
{
    jfr__type types[] = {{.name = STR("T"), .field_count = 2}, {.shape = JFR__LONG}};
    jfr__field fields[] = {{.name = STR("list"), .type = 1, .array = true},
                           {.name = STR("last"), .type = 1}};
    jfr__plan plan;
    ck_assert_int_eq(compile(&plan, types, fields, NULL, 0), 0);
    const uint8_t bytes[] = {3, 10, 11, 12, 99};
    jfr__cursor c = {bytes, bytes, bytes + sizeof(bytes), true, false};
    jfr__plan_run(&plan, &c, NULL);
    ck_assert(!c.failed);
    ck_assert_uint_eq(jfr__cursor_left(&c), 0);
}
END_TEST

START_TEST(type_that_contains_itself_is_refused)
{
    jfr__type types[] = {{.name = STR("T"), .field_count = 1}};
    jfr__field fields[] = {{.name = STR("self"), .type = 0}};
    jfr__plan plan;
    ck_assert_int_eq(compile(&plan, types, fields, NULL, 0), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_metadata_depth"));
}
END_TEST

START_TEST(field_of_undefined_type_is_refused)
{
    jfr__type types[] = {{.name = STR("T"), .field_count = 1}};
    jfr__field fields[] = {{.name = STR("ghost"), .type = JFR_NONE}};
    jfr__plan plan;
    ck_assert_int_eq(compile(&plan, types, fields, NULL, 0), JFR_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.message, "ghost"));
    fields[0].constant_pool = true; /* a reference can be skipped without its type */
    ck_assert_int_eq(compile(&plan, types, fields, NULL, 0), 0);
}
END_TEST

/* Each level holds two of the next. Wide nesting must be limited, whether it takes ops and bytes,
 * bytes alone, or neither. */
START_TEST(wide_nesting_is_bounded)
{
    static const jfr__shape leaves[] = {JFR__STRING, JFR__LONG, JFR__STRUCT};
    jfr__type types[30];
    jfr__field fields[60];
    memset(fields, 0, sizeof(fields));
    for (uint32_t i = 0; i < 30; i++) {
        types[i] = (jfr__type){.first_field = i * 2, .field_count = 2};
        fields[i * 2] = (jfr__field){.name = STR("x"), .type = i + 1, .array = _i == 0};
        fields[i * 2 + 1] = fields[i * 2];
    }
    types[29] = (jfr__type){.shape = leaves[_i]};
    const jfr__metadata meta = {.types = types, .fields = fields};
    jfr__plan plan;
    ck_assert_int_eq(jfr__plan_compile(&plan, &meta, &types[0], NULL, 0, true, 100, &arena, &err),
                     JFR_ERR_FORMAT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *t = tcase_create("plan");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, unwanted_neighbours_are_one_step);
    tcase_add_test(t, field_of_another_shape_is_not_taken);
    tcase_add_test(t, array_body_ends_where_it_ends);
    tcase_add_test(t, type_that_contains_itself_is_refused);
    tcase_add_test(t, field_of_undefined_type_is_refused);
    tcase_add_loop_test(t, wide_nesting_is_bounded, 0, 3);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
