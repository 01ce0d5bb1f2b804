/* SPDX-License-Identifier: Apache-2.0 */
#include "read/split_impl.h"
#include "support/anything.h"

static jfr_columns *columns;

static void setup(void)
{
    fixture_setup();
    columns = NULL;
}

static void teardown(void)
{
    jfr_columns_close(columns);
    fixture_teardown();
}

static const char *const paths[] = {"span",
                                    "startTime",
                                    "eventThread.javaName",
                                    "nothing",
                                    "stackTrace.frames[1].method.type.name",
                                    "stackTrace.frames[0].lineNumber",
                                    "numbers[1]",
                                    "state",
                                    "duration",
                                    "eventThread",
                                    "weird.texts[0]",
                                    "eventThread.group.parent.name"};
enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

static void expect_row(const jfr_variant *row)
{
    ck_assert_int_eq(row[0].kind, JFR_VARIANT_SPAN);
    ck_assert_int_eq(row[0].integer, 5000000);
    ck_assert_int_eq(row[1].kind, JFR_VARIANT_TIME);
    ck_assert_int_eq(row[1].integer, 1000000200);
    assert_str(row[2].text, "main");
    ck_assert_int_eq(row[3].kind, JFR_VARIANT_NULL);
    assert_str(row[4].text, "java/util/HashMap");
    ck_assert_int_eq(row[5].integer, 42);
    ck_assert_int_eq(row[6].integer, 2);
    assert_str(row[7].text, "STATE_RUNNABLE");
    ck_assert_int_eq(row[8].kind, JFR_VARIANT_SPAN);
    ck_assert_int_eq(row[8].integer, 250);
    ck_assert_int_eq(row[9].kind, JFR_VARIANT_STRUCT);
    ck_assert_uint_eq(row[9].constant, 0);
    assert_str(row[10].text, "x");
    ck_assert_int_eq(row[11].kind, JFR_VARIANT_NULL); /* of a parent that is null */
    ck_assert_uint_eq(row[11].type, T_STRING);
    ck_assert_uint_eq(row[11].constant, JFR_NONE);
}

/* Reads the row twice: the second time the values inside constants come from the cache. */
START_TEST(one_row)
{
    jfr_event event = open_anything(_i == 1);
    jfr_variant row[PATHS];
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, paths, PATHS, &err), 0);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), 0);
        expect_row(row);
    }
}
END_TEST

START_TEST(fields_of_columns)
{
    jfr_event event = open_anything(false);
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, paths, PATHS, &err), 0);
    assert_str(jfr_columns_field(columns, 2)->name, "javaName");
    ck_assert_int_eq(jfr_columns_field(columns, 1)->unit, JFR_UNIT_TIME_TICKS);
    ck_assert_ptr_null(jfr_columns_field(columns, 3));
    ck_assert_ptr_null(jfr_columns_field(columns, PATHS));
}
END_TEST

/* A dictionary: the constants of a type, by the index that the events' values give. */
START_TEST(columns_of_constants)
{
    (void)open_anything(false);
    const char *const names[] = {"osName", "group.name"};
    jfr_variant row[2];
    jfr_variant thread;
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, T_THREAD, names, 2, &err), 0);
    ck_assert_int_eq(jfr_chunk_constant(chunk, T_THREAD, 1, &thread, &err), 0);
    ck_assert_int_eq(jfr_columns_read(columns, &thread, row, &err), 0);
    assert_str(row[0].text, "GC Thread#0");
    ck_assert_int_eq(row[1].kind, JFR_VARIANT_NULL);
}
END_TEST

START_TEST(damaged_row)
{
    jfr_event event = open_anything(false);
    jfr_variant row[PATHS];
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, paths, PATHS, &err), 0);
    event.value.end -= 1;
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), JFR_ERR_FORMAT);
}
END_TEST

START_TEST(usage_errors)
{
    jfr_event event = open_anything(false);
    const char *const wrong[] = {"numbers["};
    jfr_variant row[1];
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, T_RICH_COUNT, paths, 1, &err),
                     JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, wrong, 1, &err),
                     JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, T_THREAD, paths, 1, &err), 0);
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), JFR_ERR_USAGE);
}
END_TEST

/* Of two field names that a path begins with, the longer one is used. */
START_TEST(names_with_dots)
{
    write_anything(false);
    uint8_t *name = memmem(w.data, w.len, "precise", 7);
    ck_assert_ptr_nonnull(name);
    memcpy(name, "weird.c", 7);
    jfr_event event = open_first_event();
    const char *const dotted[] = {"weird.c", "weird.s"};
    jfr_variant row[2];
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, dotted, 2, &err), 0);
    assert_str(jfr_columns_field(columns, 0)->name, "weird.c");
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), 0);
    ck_assert_int_eq(row[0].kind, JFR_VARIANT_DOUBLE);
    ck_assert_int_eq(row[1].kind, JFR_VARIANT_INTEGER);
}
END_TEST

START_TEST(columns_end_with_their_chunk)
{
    write_anything(false);
    write_simple_chunk();
    jfr_event event = open_first_event();
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, paths, 1, &err), 0);
    next_chunk();
    jfr_variant row[1];
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), JFR_ERR_USAGE);
    ck_assert_ptr_null(jfr_columns_field(columns, 0));
}
END_TEST

/* A chunk that is read again counts as another chunk. */
START_TEST(columns_end_where_a_reader_goes_back)
{
    jfr_file *reader;
    jfr_variant row[1];
    write_anything(false);
    jfr_event event = open_first_event();
    const jfr__place place = {0, w.len};
    ck_assert_int_eq(jfr__split_reader(&reader, file, &err), 0);
    jfr__split_go(reader, &place);
    ck_assert_int_eq(jfr_next_chunk(reader, &chunk, &err), 1);
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, paths, 1, &err), 0);
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), 0);
    jfr__split_go(reader, &place);
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(jfr_next_chunk(reader, &chunk, &err), 1);
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), JFR_ERR_USAGE);
    jfr_columns_close(columns);
    columns = NULL;
    jfr_close(reader);
}
END_TEST

START_TEST(no_columns)
{
    jfr_event event = open_anything(false);
    jfr_variant row[1];
    ck_assert_int_eq(jfr_columns_open(&columns, chunk, event.type->index, NULL, 0, &err), 0);
    ck_assert_int_eq(jfr_columns_read(columns, &event.value, row, &err), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("columns");
    TCase *t = tcase_create("columns");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, one_row, 0, 2);
    tcase_add_test(t, fields_of_columns);
    tcase_add_test(t, columns_of_constants);
    tcase_add_test(t, damaged_row);
    tcase_add_test(t, usage_errors);
    tcase_add_test(t, names_with_dots);
    tcase_add_test(t, columns_end_with_their_chunk);
    tcase_add_test(t, columns_end_where_a_reader_goes_back);
    tcase_add_test(t, no_columns);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
