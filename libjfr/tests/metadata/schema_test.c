/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

static void setup(void)
{
    fixture_setup();
    w.rich = true;
}

static const jfr_type *find(const char *name)
{
    const jfr_type *type = NULL;
    ck_assert_int_eq(jfr_chunk_find_type(chunk, name, &type, &err), 1);
    return type;
}

START_TEST(types_in_the_files_order)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *types;
    uint32_t count;
    ck_assert_int_eq(jfr_chunk_types(chunk, &types, &count, &err), 0);
    ck_assert_uint_eq(count, T_RICH_COUNT);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_eq(types[i].index, i);
        ck_assert_uint_eq(types[i].id, params.base + i);
    }
    assert_str(types[T_INT].name, "int");
    ck_assert_int_eq(types[T_INT].kind, JFR_KIND_INT);
    ck_assert_uint_eq(types[T_INT].field_count, 0);
}
END_TEST

START_TEST(event_types_are_told)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type = find("test.Anything");
    ck_assert(type->is_event);
    assert_str(type->super_name, "jdk.jfr.Event");
    assert_str(type->label, "Any Thing");
    ck_assert_ptr_null(type->description.data);
    ck_assert(!find("java.lang.Thread")->is_event);
}
END_TEST

START_TEST(annotations_keep_their_order_and_values)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type = find("test.Anything");
    ck_assert_uint_eq(type->annotation_count, 2);
    assert_str(type->annotations[0].name, "jdk.jfr.Label");
    const jfr_annotation *category =
        jfr_annotation_find(type->annotations, type->annotation_count, "jdk.jfr.Category");
    ck_assert_ptr_eq(category, &type->annotations[1]);
    ck_assert_uint_eq(category->value_count, 2);
    assert_str(category->values[0].name, "value-0");
    assert_str(category->values[0].text, "Test Bench");
    assert_str(category->values[1].text, "Parts");
    ck_assert_ptr_null(jfr_annotation_find(type->annotations, 2, "jdk.jfr.Description"));
}
END_TEST

START_TEST(fields_with_units_and_content)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type = find("test.Anything");
    const jfr_field *start = jfr_type_field(type, "startTime");
    ck_assert_int_eq(start->unit, JFR_UNIT_TIME_TICKS);
    assert_str(start->content, "jdk.jfr.Timestamp");
    ck_assert_int_eq(jfr_type_field(type, "duration")->unit, JFR_UNIT_SPAN_TICKS);
    ck_assert_int_eq(jfr_type_field(type, "span")->unit, JFR_UNIT_SPAN_MS);
    const jfr_field *amount = jfr_type_field(type, "amount");
    ck_assert_int_eq(amount->unit, JFR_UNIT_NONE);
    assert_str(amount->content, "jdk.jfr.DataAmount");
    assert_str(amount->content_unit, "BYTES");
    ck_assert(jfr_type_field(type, "small")->is_unsigned);
    ck_assert(jfr_type_field(type, "numbers")->is_array);
    ck_assert(jfr_type_field(type, "stackTrace")->is_constant);
    ck_assert_uint_eq(jfr_type_field(type, "stackTrace")->type, T_STACK);
    ck_assert_ptr_null(jfr_type_field(type, "absent"));
}
END_TEST

START_TEST(simple_types_count_as_what_they_wrap)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *state = find("jdk.types.ThreadState");
    ck_assert(state->is_simple);
    ck_assert_int_eq(state->kind, JFR_KIND_STRUCT);
    ck_assert_int_eq(jfr_type_field(find("test.Anything"), "state")->kind, JFR_KIND_STRING);
    ck_assert(!find("jdk.types.StackTrace")->is_simple);
}
END_TEST

START_TEST(unknown_type_is_not_found)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type;
    ck_assert_int_eq(jfr_chunk_find_type(chunk, "jdk.Nothing", &type, &err), 0);
}
END_TEST

START_TEST(region_tells_the_time_zone)
{
    write_simple_chunk();
    open_first_chunk();
    ck_assert_int_eq(jfr_chunk_get_info(chunk)->utc_offset_s, -4 * 3600);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schema");
    TCase *t = tcase_create("schema");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_add_test(t, types_in_the_files_order);
    tcase_add_test(t, event_types_are_told);
    tcase_add_test(t, annotations_keep_their_order_and_values);
    tcase_add_test(t, fields_with_units_and_content);
    tcase_add_test(t, simple_types_count_as_what_they_wrap);
    tcase_add_test(t, unknown_type_is_not_found);
    tcase_add_test(t, region_tells_the_time_zone);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
