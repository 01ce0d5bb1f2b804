/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/metadata_impl.h"
#include "support/fixture.h"

#include <string.h>

static jfr__metadata meta;
static jfr_options limits;

static void setup(void)
{
    fixture_setup();
    jfr__metadata_init(&meta, &jfr__malloc, UINT64_MAX);
    limits = (jfr_options){
        .max_metadata_depth = 32, .max_metadata_elements = 10000, .max_string_bytes = 1000};
    w.base = 20;
}

static void teardown(void)
{
    jfr__metadata_free(&meta);
    fixture_teardown();
}

static int read_written(size_t len)
{
    jfr__cursor c = {w.data, w.data, w.data + len, true, false};
    return jfr__metadata_read(&meta, &c, &limits, &err);
}

START_TEST(knows_types_fields_and_annotations)
{
    put_metadata(&w, true);
    ck_assert_int_eq(read_written(w.len), 0);
    const jfr__type *type = jfr__metadata_named(&meta, "jdk.JavaMonitorEnter");
    ck_assert_ptr_nonnull(type);
    ck_assert_uint_eq(type->id, 20 + T_MONITOR_ENTER);
    ck_assert_ptr_eq(jfr__metadata_type(&meta, 20 + T_MONITOR_ENTER), type);
    ck_assert_uint_eq(type->field_count, 5);
    const jfr__field *fields = &meta.fields[type->first_field];
    assert_str(fields[1].name, "duration");
    ck_assert_int_eq(fields[1].unit, JFR__UNIT_TICKS);
    ck_assert(fields[4].constant_pool);
    assert_str(jfr__metadata_named(&meta, "jdk.ActiveRecording")->label,
               "Async-profiler Recording");
    ck_assert_ptr_null(jfr__metadata_type(&meta, 3));
    ck_assert_ptr_null(jfr__metadata_named(&meta, "no.Such"));
}
END_TEST

static int read_from(size_t begin, size_t end)
{
    jfr__cursor c = {w.data, w.data + begin, w.data + end, true, false};
    return jfr__metadata_read(&meta, &c, &limits, &err);
}

/* Types are not read again from equal bytes, unless the bytes may have moved. */
START_TEST(reading_the_same_keeps_the_types)
{
    put_metadata(&w, true);
    size_t second = w.len;
    put_metadata(&w, true);
    ck_assert_int_eq(read_from(0, second), 0);
    const jfr__type *type = jfr__metadata_named(&meta, "jdk.JavaMonitorEnter");
    const char *name = type->name.data;
    ck_assert(name < (char *)w.data + second);
    ck_assert_int_eq(read_from(second, w.len), 0);
    ck_assert_uint_eq(meta.type_count, T_COUNT);
    ck_assert_ptr_eq(jfr__metadata_named(&meta, "jdk.JavaMonitorEnter")->name.data, name);
    jfr__metadata_forget(&meta);
    ck_assert_int_eq(read_from(second, w.len), 0);
    ck_assert_uint_eq(meta.type_count, T_COUNT);
    ck_assert_ptr_eq(jfr__metadata_named(&meta, "jdk.JavaMonitorEnter")->name.data, name + second);
}
END_TEST

/* Other bytes of the same length replace the types; damaged ones leave nothing that is kept. */
START_TEST(reading_others_replaces)
{
    put_metadata(&w, false);
    size_t second = w.len;
    w.base = 50;
    put_metadata(&w, false);
    ck_assert_uint_eq(w.len, 2 * second);
    ck_assert_int_eq(read_from(0, second), 0);
    ck_assert_int_eq(read_from(second, w.len), 0);
    ck_assert_uint_eq(meta.type_count, T_COUNT);
    ck_assert_uint_eq(jfr__metadata_named(&meta, "jdk.JavaMonitorEnter")->id, 50 + T_MONITOR_ENTER);
    uint8_t last = w.data[second - 1];
    w.data[second - 1] = 0x80;
    ck_assert_int_eq(read_from(0, second), JFR_ERR_FORMAT);
    w.data[second - 1] = last;
    ck_assert_int_eq(read_from(0, second), 0);
    ck_assert_uint_eq(jfr__metadata_named(&meta, "jdk.JavaMonitorEnter")->id, 20 + T_MONITOR_ENTER);
}
END_TEST

START_TEST(each_cut_is_an_error)
{
    put_metadata(&w, false);
    for (size_t len = 0; len < w.len; len++)
        ck_assert_int_eq(read_written(len), JFR_ERR_FORMAT);
}
END_TEST

/* A size smaller than the event's own head. */
START_TEST(too_small_size_is_an_error)
{
    put_metadata(&w, false);
    for (uint8_t size = 0; size < 8; size++) {
        memcpy(w.data, (const uint8_t[]){size | 0x80, 0x80, 0x80, 0}, 4);
        ck_assert_int_eq(read_written(w.len), JFR_ERR_FORMAT);
    }
}
END_TEST

START_TEST(limits_hold)
{
    put_metadata(&w, false);
    limits.max_metadata_depth = 2;
    ck_assert_int_eq(read_written(w.len), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_metadata_depth"));
    limits.max_metadata_depth = 32;
    limits.max_metadata_elements = 300; /* more than strings, fewer than elements */
    ck_assert_int_eq(read_written(w.len), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_metadata_elements"));
    limits.max_metadata_elements = 5;
    ck_assert_int_eq(read_written(w.len), JFR_ERR_LIMIT);
    limits.max_metadata_elements = 10000;
    limits.max_string_bytes = 4;
    ck_assert_int_eq(read_written(w.len), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_string_bytes"));
}
END_TEST

/* Begins a metadata event of hand-made strings and elements. */
static void begin_metadata(void)
{
    static const char *const strings[] = {"class", "name", "id", "7", "field", "t"};
    put_be(&w, 0, 4);
    for (int i = 0; i < 4; i++)
        put_varint(&w, 0);
    put_varint(&w, 6);
    for (int i = 0; i < 6; i++)
        put_text(&w, strings[i]);
}

static void put_class_seven(unsigned children)
{
    put_varint(&w, 0);
    put_varint(&w, 2);
    put_bytes(&w, "\1\5\2\3", 4); /* name="t" id="7" */
    put_varint(&w, children);
}

START_TEST(two_types_of_one_id_are_refused)
{
    begin_metadata();
    put_class_seven(1);
    put_class_seven(0);
    end_event(&w, 0);
    ck_assert_int_eq(read_written(w.len), JFR_ERR_FORMAT);
}
END_TEST

START_TEST(string_index_out_of_range_is_refused)
{
    begin_metadata();
    size_t at = w.len;
    put_varint(&w, 6);
    put_bytes(&w, "\0\0", 2);
    end_event(&w, 0);
    ck_assert_int_eq(read_written(w.len), JFR_ERR_FORMAT);
    ck_assert_uint_gt(err.offset, at);
}
END_TEST

START_TEST(field_outside_of_a_type_is_refused)
{
    begin_metadata();
    put_varint(&w, 4);
    put_bytes(&w, "\0\0", 2);
    end_event(&w, 0);
    ck_assert_int_eq(read_written(w.len), JFR_ERR_FORMAT);
}
END_TEST

START_TEST(child_count_beyond_the_event_is_refused)
{
    begin_metadata();
    put_class_seven(1000000);
    end_event(&w, 0);
    ck_assert_int_eq(read_written(w.len), JFR_ERR_FORMAT);
}
END_TEST

/* A chunk with damaged metadata is reported as lost; the next chunk is read. */
START_TEST(damaged_metadata_costs_its_chunk)
{
    write_simple_chunk();
    w.data[68 + 4] = 9; /* the metadata event's type */
    size_t second = w.len;
    write_simple_chunk();
    open_first_chunk();
    ck_assert_uint_eq(jfr_chunk_get_info(chunk)->offset, second);
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_BAD_METADATA);
    ck_assert_uint_eq(loss().records[0].chunk, 0);
    ck_assert_uint_eq(loss().records[0].bytes, second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metadata");
    TCase *t = tcase_create("metadata");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, knows_types_fields_and_annotations);
    tcase_add_test(t, reading_the_same_keeps_the_types);
    tcase_add_test(t, reading_others_replaces);
    tcase_add_test(t, each_cut_is_an_error);
    tcase_add_test(t, too_small_size_is_an_error);
    tcase_add_test(t, limits_hold);
    tcase_add_test(t, two_types_of_one_id_are_refused);
    tcase_add_test(t, string_index_out_of_range_is_refused);
    tcase_add_test(t, field_outside_of_a_type_is_refused);
    tcase_add_test(t, child_count_beyond_the_event_is_refused);
    tcase_add_test(t, damaged_metadata_costs_its_chunk);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
