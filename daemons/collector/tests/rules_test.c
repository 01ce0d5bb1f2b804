/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which JVMs the rules choose. */
#include "collector_tests.h"

#include <stdio.h>
#include <string.h>

static rule_text any_rule(void)
{
    return (rule_text){.main_class = "",
                       .command_line = "",
                       .user = "",
                       .namespace_name = "",
                       .workload = "",
                       .events = "cpu"};
}

static void add(rule_set *rules, rule_text text)
{
    char message[256] = "";
    ck_assert_msg(rule_set_add(rules, &text, message, sizeof(message)) == 0, "%s", message);
}

START_TEST(the_first_match_counts_and_off_wins)
{
    rule_set *rules = rule_set_new();
    rule_text shop = any_rule();
    shop.main_class = "Shop$";
    shop.workload = "the-shop";
    shop.namespace_name = "sales";
    shop.events = "cpu=1ms,alloc,lock=20us,wall,live,nativemem=1m";
    add(rules, shop);
    add(rules, any_rule());
    rule_text roots = any_rule();
    roots.user = "^root$";
    roots.off = true;
    add(rules, roots);
    local_jvm jvm = sample_jvm(7);
    rule_verdict verdict;
    rule_set_match(rules, &jvm, "alice", &verdict);
    ck_assert(verdict.profiled);
    ck_assert_str_eq(verdict.labels.workload, "the-shop");
    ck_assert_str_eq(verdict.labels.namespace_name, "sales");
    ck_assert_uint_eq(verdict.events.of[EVENT_CPU], 1000000);
    ck_assert_uint_eq(verdict.events.of[EVENT_ALLOC], 2097152);
    ck_assert_uint_eq(verdict.events.of[EVENT_LOCK], 20000);
    ck_assert_uint_eq(verdict.events.of[EVENT_WALL], 100000000);
    ck_assert_uint_eq(verdict.events.of[EVENT_LIVE], 2097152);
    ck_assert_uint_eq(verdict.events.of[EVENT_NATIVEMEM], 1048576);
    rule_set_match(rules, &jvm, "root", &verdict);
    ck_assert(!verdict.profiled);
    ck_assert_str_eq(verdict.labels.workload, "Shop");
    (void)snprintf(jvm.main_class, sizeof(jvm.main_class), "/srv/web.app.jar");
    rule_set_match(rules, &jvm, "alice", &verdict);
    ck_assert(verdict.profiled);
    ck_assert_str_eq(verdict.labels.workload, "web.app");
    ck_assert_uint_eq(verdict.events.of[EVENT_ALLOC], 0);
    rule_set_free(rules);
}
END_TEST

START_TEST(a_user_matches_by_number_too_and_no_rule_means_no_profile)
{
    rule_set *rules = rule_set_new();
    rule_text numbered = any_rule();
    numbered.user = "^1000$";
    add(rules, numbered);
    local_jvm jvm = sample_jvm(7);
    rule_verdict verdict;
    rule_set_match(rules, &jvm, "alice", &verdict);
    ck_assert(verdict.profiled);
    jvm.uid = 1001;
    rule_set_match(rules, &jvm, "alice", &verdict);
    ck_assert(!verdict.profiled);
    ck_assert_str_eq(verdict.labels.workload, "Shop");
    rule_set_free(rules);
}
END_TEST

START_TEST(mistakes_in_rules_are_named)
{
    rule_set *rules = rule_set_new();
    char message[256] = "";
    rule_text broken = any_rule();
    broken.main_class = "a(";
    ck_assert_int_eq(rule_set_add(rules, &broken, message, sizeof(message)), -1);
    ck_assert_ptr_nonnull(strstr(message, "main_class"));
    static const char *const events[][2] = {
        {"cpu,walls",
         "\"walls\" is not one of cpu, alloc, lock, wall, live, nativemem; did you mean 'wall'?"},
        {"alloc=2x", "\"alloc=2x\" takes a size"},
        {"cpu=10", "\"cpu=10\" takes a time"},
        {"cpu=0ms", "takes a time"},
        {"cpu=999us", "at least 1ms"},
        {"alloc=1023", "takes a size of at least 1k"},
        {"lock=999ns", "at least 1us"},
        {"", "\"\" is not one of"}};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        broken = any_rule();
        broken.events = events[i][0];
        ck_assert_int_eq(rule_set_add(rules, &broken, message, sizeof(message)), -1);
        ck_assert_msg(strstr(message, events[i][1]) != NULL, "%s", message);
    }
    rule_set_free(rules);
}
END_TEST

TCase *rules_tests(void)
{
    TCase *tests = tcase_create("rules");
    tcase_add_test(tests, the_first_match_counts_and_off_wins);
    tcase_add_test(tests, a_user_matches_by_number_too_and_no_rule_means_no_profile);
    tcase_add_test(tests, mistakes_in_rules_are_named);
    return tests;
}
