/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/busy.h>

#include <check.h>

#include "run_suite.h"

#define SECOND 1000000000u

static const struct {
    diagnosed_use use;
    double percent;
    bool busy;
} rows[] = {
    {{.window_ns = SECOND, .cpu_ns = SECOND / 50}, DIAGNOSIS_BUSY_PERCENT, true},
    {{.window_ns = SECOND, .cpu_ns = SECOND / 50 - 1}, DIAGNOSIS_BUSY_PERCENT, false},
    {{.window_ns = SECOND, .cpu_ns = SECOND / 200}, 0.5, true},
    {{.window_ns = SECOND}, 0.1, false},
    /* Measured CPU time decides. */
    {{.window_ns = SECOND, .snapshots = 1, .runnable = 1}, 5, false},
    {{.snapshots = 8, .runnable = 2}, 5, true},
    {{.snapshots = 9, .runnable = 2}, 5, false},
    {{.snapshots = 3}, 5, false},
    {{.snapshots = 0}, 5, false},
};

START_TEST(test_busy)
{
    ck_assert_int_eq(diagnose_busy(&rows[_i].use, rows[_i].percent), rows[_i].busy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnosis-busy");
    TCase *tests = tcase_create("busy");
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, test_busy, 0, sizeof(rows) / sizeof(rows[0]));
    return run_suite(suite);
}
