/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

static void setup(void)
{
    fixture_setup();
    w.rich = true;
}

/* The rules are those of the JDK's jfr tool (jdk.jfr.internal.tool.Filters). */
static const struct {
    const char *events;
    const char *categories;
    bool matches;
} rows[] = {
    {NULL, NULL, true},
    {"test.Anything", NULL, true},
    {"Anything", NULL, true},
    {"Any*", NULL, true},
    {"*.Any*g", NULL, true},
    {"*", NULL, true},
    {"test.?nything", NULL, true},
    {"CPULoad, Anything", NULL, true},
    {",, Anything ,", NULL, true},
    {"anything", NULL, false},
    {"Any", NULL, false},
    {"test", NULL, false},
    {"", NULL, false},
    {"*a*b*a*b*a*b*", NULL, false},
    {NULL, "Parts", true},
    {NULL, "Test*", true},
    {NULL, "TB", true},
    {NULL, "P", false}, /* initials are for several words */
    {NULL, "T", false},
    {NULL, "Uncategorized", false},
    {"Anything", "Parts", true},
    {"Anything", "Other", false},
    {"Other", "Parts", false},
};

START_TEST(chooses)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type;
    ck_assert_int_eq(jfr_chunk_find_type(chunk, "test.Anything", &type, &err), 1);
    ck_assert(jfr_type_matches(type, rows[_i].events, rows[_i].categories) == rows[_i].matches);
}
END_TEST

START_TEST(types_without_category_are_uncategorized)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type;
    ck_assert_int_eq(jfr_chunk_find_type(chunk, "jdk.ThreadPark", &type, &err), 1);
    ck_assert(jfr_type_matches(type, NULL, "Uncat*"));
    ck_assert(!jfr_type_matches(type, NULL, "Parts"));
}
END_TEST

START_TEST(only_event_types_match)
{
    write_simple_chunk();
    open_first_chunk();
    const jfr_type *type;
    ck_assert_int_eq(jfr_chunk_find_type(chunk, "java.lang.Thread", &type, &err), 1);
    ck_assert(!jfr_type_matches(type, "*", NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *t = tcase_create("filter");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_add_loop_test(t, chooses, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(t, types_without_category_are_uncategorized);
    tcase_add_test(t, only_event_types_match);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
