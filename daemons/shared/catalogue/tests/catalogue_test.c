/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/event.h>
#include <catalogue/profile_type.h>
#include <catalogue/reason.h>
#include <catalogue/state.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_suite.h"

START_TEST(every_profile_type_is_found_by_number_and_name)
{
    for (unsigned i = 1; i < PROFILE_TYPE_END; i++) {
        const profile_type_info *info = profile_type_get(i);
        ck_assert_ptr_nonnull(info);
        ck_assert_uint_eq(info->type, i);
        ck_assert_ptr_eq(profile_type_find(info->name), info);
    }
    ck_assert_ptr_null(profile_type_get(0));
    ck_assert_ptr_null(profile_type_get(PROFILE_TYPE_END));
    ck_assert_ptr_null(profile_type_find("heap"));
}
END_TEST

START_TEST(every_reason_has_a_name_and_a_sentence)
{
    for (unsigned i = 0; i < REASON_END; i++) {
        const reason_info *info = reason_get(i);
        ck_assert_ptr_nonnull(info->name);
        ck_assert_uint_eq(info->reason, i);
        ck_assert_ptr_eq(reason_find(info->name), info);
        ck_assert_msg(info->explanation[strlen(info->explanation) - 1] == '.', "%s", info->name);
    }
    ck_assert_ptr_null(reason_get(REASON_END));
}
END_TEST

START_TEST(every_state_has_a_name)
{
    for (unsigned i = 0; i < TARGET_STATE_END; i++)
        ck_assert_ptr_nonnull(target_state_name(i));
    for (unsigned i = 0; i < SESSION_STATE_END; i++)
        ck_assert_ptr_nonnull(session_state_name(i));
    for (unsigned i = 0; i < TARGET_MODE_END; i++)
        ck_assert_ptr_nonnull(target_mode_name(i));
    ck_assert_ptr_null(target_mode_name(TARGET_MODE_END));
    ck_assert_ptr_null(target_state_name(TARGET_STATE_END));
    ck_assert_ptr_null(session_state_name(SESSION_STATE_END));
}
END_TEST

/* docs/reference/reasons.md is written for people and must agree with the table, row by row. */
START_TEST(the_reference_page_equals_the_table)
{
    FILE *page = fopen(REASONS_PAGE, "r");
    ck_assert_msg(page != NULL, "cannot open %s", REASONS_PAGE);
    static char text[65536];
    size_t length = fread(text, 1, sizeof(text) - 1, page);
    text[length] = '\0';
    ck_assert_int_eq(fclose(page), 0);
    size_t rows = 0;
    for (const char *at = text; (at = strstr(at, "\n| ")) != NULL; at++)
        rows++;
    for (unsigned i = 1; i < REASON_END; i++) {
        const reason_info *info = reason_get(i);
        char row[1024];
        snprintf(row, sizeof(row), "\n| %u | `%s` | %s | %s |\n", i, info->name, info->explanation,
                 info->fix[0] != '\0' ? info->fix : "-");
        ck_assert_msg(strstr(text, row) != NULL, "the page lacks this row:%s", row);
    }
    ck_assert_uint_eq(rows, REASON_END - 1 + 1); /* and the table's heading */
}
END_TEST

static const event_intervals usual = {{10, 20, 30, 40, 50, 60}};

static const struct {
    const char *list;
    event_intervals wanted;
    const char *problem; /* NULL: the list is valid; else a part of the message */
} lists[] = {
    {"cpu", {{10}}, NULL},
    {"cpu,alloc,lock", {{10, 20, 30}}, NULL},
    {"wall,live,nativemem", {{0, 0, 0, 40, 50, 60}}, NULL},
    {"lock=2us,cpu=1ms", {{1000000, 0, 2000}}, NULL},
    {"alloc=1k", {{0, 1024}}, NULL},
    {"wall=5ms,nativemem=1k", {{0, 0, 0, 5000000, 0, 1024}}, NULL},
    {"live=2k", {{0, 0, 0, 0, 2048}}, NULL},
    {"alloc,live", {{0, 20, 0, 0, 20}}, NULL}, /* they are sampled together */
    {"live=2k,alloc", {{0, 2048, 0, 0, 2048}}, NULL},
    {"live,alloc=3k", {{0, 3072, 0, 0, 3072}}, NULL},
    {"live=3k,alloc=3k", {{0, 3072, 0, 0, 3072}}, NULL},
    {"live=2k,alloc=3k", {{0}}, "give one interval"},
    {"cpu=10", {{0}}, "unit"}, /* 10 ns would cost 7 times the JVM's CPU */
    {"alloc=524288", {{0}}, "unit"},
    {"lock=1", {{0}}, "unit"},
    {"cpu=999us", {{0}}, "at least 1ms"},
    {"alloc=0k", {{0}}, "at least 1k"},
    {"lock=999ns", {{0}}, "at least 1us"},
    {"wall=4999us", {{0}}, "at least 5ms"},
    {"live=0k", {{0}}, "at least 1k"},
    {"nativemem=1", {{0}}, "at least 1k"},
    {"cpu=-1ms", {{0}}, "at least 1ms"},
    {"cpu=99999999999999s", {{0}}, "at least 1ms"},
    {"cpu=1ms=2", {{0}}, "at least 1ms"},
    {"walls",
     {{0}},
     "\"walls\" is not one of cpu, alloc, lock, wall, live, nativemem; did you mean 'wall'?"},
    {"cpu,nativmem=1k", {{0}}, "; did you mean 'nativemem'?"},
    {"cpu,", {{0}}, "not one of"},
    {"", {{0}}, "not one of"},
};

START_TEST(intervals_have_a_unit_and_a_floor)
{
    event_intervals out;
    char message[200] = "";
    int rc = event_intervals_parse(&out, lists[_i].list, &usual, message, sizeof(message));
    ck_assert_msg((rc == 0) == (lists[_i].problem == NULL), "%s: %s", lists[_i].list, message);
    if (rc != 0) {
        ck_assert_msg(strstr(message, lists[_i].problem) != NULL, "%s: %s", lists[_i].list,
                      message);
        return;
    }
    ck_assert_mem_eq(&out, &lists[_i].wanted, sizeof(out));
    ck_assert(event_intervals_any(&out));
}
END_TEST

START_TEST(each_event_yields_its_source)
{
    for (unsigned source = 1; source <= PROFILE_SOURCE_NATIVEMEM; source++) {
        unsigned yielding = 0;
        for (size_t i = 0; i < EVENTS; i++) {
            event_intervals one = {{0}};
            one.of[i] = 1;
            yielding += event_intervals_yield(&one, (enum profile_source)source);
        }
        ck_assert_uint_eq(yielding, 1);
    }
    ck_assert(event_intervals_yield(&(event_intervals){{[EVENT_LIVE] = 1}}, PROFILE_SOURCE_LIVE));
    ck_assert(!event_intervals_any(&(event_intervals){{0}}));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *tables = tcase_create("tables");
    tcase_add_test(tables, every_profile_type_is_found_by_number_and_name);
    tcase_add_test(tables, every_reason_has_a_name_and_a_sentence);
    tcase_add_test(tables, every_state_has_a_name);
    tcase_add_test(tables, the_reference_page_equals_the_table);
    tcase_add_loop_test(tables, intervals_have_a_unit_and_a_floor, 0,
                        sizeof(lists) / sizeof(lists[0]));
    tcase_add_test(tables, each_event_yields_its_source);
    suite_add_tcase(suite, tables);
    return run_suite(suite);
}
