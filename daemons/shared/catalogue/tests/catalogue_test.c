/* SPDX-License-Identifier: Apache-2.0 */
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
    ck_assert_ptr_null(target_state_name(TARGET_STATE_END));
    ck_assert_ptr_null(session_state_name(SESSION_STATE_END));
}
END_TEST

/* docs/reference/reasons.md is for people; it must say what the table says, row by row. */
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

int main(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *tables = tcase_create("tables");
    tcase_add_test(tables, every_profile_type_is_found_by_number_and_name);
    tcase_add_test(tables, every_reason_has_a_name_and_a_sentence);
    tcase_add_test(tables, every_state_has_a_name);
    tcase_add_test(tables, the_reference_page_equals_the_table);
    suite_add_tcase(suite, tables);
    return run_suite(suite);
}
