/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

static const struct {
    const char *name;
    const char *pool;
} rows[] = {
    {"", ""},
    {"main", "main"},
    {"http-nio-8080-exec-12", "http-nio-8080-exec-#"},
    {"pool-1-thread-3", "pool-1-thread-#"},
    {"ForkJoinPool.commonPool-worker-7", "ForkJoinPool.commonPool-worker-#"},
    {"GC Thread#3", "GC Thread#"},
    {"C2 CompilerThread0", "C2 CompilerThread#"},
    {"qtp1804094807-42", "qtp#-#"},
    {"RMI TCP Connection(12)-10.0.0.1", "RMI TCP Connection(#)-10.0.0.#"},
    {"qtp99-31-acceptor-0@5a6bcd-Server", "qtp99-31-acceptor-#@#-Server"},
    {"worker@example", "worker@example"},
    {"conn-0x00007f01", "conn-#"},
    {"kafka-producer-network-thread | producer-1", "kafka-producer-network-thread | producer-#"},
    {"42", "#"},
    {"Größe-3", "Größe-#"},
    {"bad\xff-3", "bad\xef\xbf\xbd-#"},
};

START_TEST(names_fold)
{
    char pool[256];
    size_t size = sagg_pool_name(pool, sizeof(pool), str(rows[_i].name));
    ck_assert_uint_lt(size, sizeof(pool));
    pool[size] = '\0';
    ck_assert_str_eq(pool, rows[_i].pool);
}
END_TEST

START_TEST(a_small_room_cuts_between_code_points)
{
    char pool[4] = {0};
    ck_assert_uint_eq(sagg_pool_name(pool, 3, str("ab\xc3\xa9")), 2);
    ck_assert_mem_eq(pool, "ab", 2);
    ck_assert_uint_eq(sagg_pool_name(pool, 0, str("ab")), 0);
}
END_TEST

START_TEST(long_names_are_bounded)
{
    static char name[100000], pool[300000];
    memset(name, '\xff', sizeof(name));
    ck_assert_uint_le(sagg_pool_name(pool, sizeof(pool), (sagg_str){name, sizeof(name)}), 3072);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool_name");
    TCase *tcase = tcase_create("names");
    tcase_add_loop_test(tcase, names_fold, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(tcase, a_small_room_cuts_between_code_points);
    tcase_add_test(tcase, long_names_are_bounded);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
