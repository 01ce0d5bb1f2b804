/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the decisions of annotations and labels: precedence, ends, values and mistakes. */
#include "../../core/pods/pod_policy.h"
#include "pods_tests.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_suite.h"

#define NOW UINT64_C(1795734600000) /* 2026-11-26T23:10:00Z */

enum { MINUTE = 60000, SETTINGS = 8 };

static const pod_policy_defaults defaults = {
    .events = {{[EVENT_CPU] = 10000000, [EVENT_ALLOC] = 2097152, [EVENT_LOCK] = 10000000}},
    .startup_delay_ms = 10000,
    .continuous_interval_ms = 60000,
    .temporary_interval_ms = 10000,
    .continuous_threads_ms = 60000,
    .temporary_threads_ms = 5000,
};

/* "n:" before a name = on the namespace, "l:" = a label. */
static size_t fill(pod_setting *out, const char *const *texts, bool space)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < (size_t)2 * SETTINGS && texts[i] != NULL; i += 2) {
        const char *name = texts[i];
        bool is_space = strncmp(name, "n:", 2) == 0;
        name += is_space ? 2 : 0;
        bool is_label = strncmp(name, "l:", 2) == 0;
        name += is_label ? 2 : 0;
        if (is_space != space)
            continue;
        ck_assert(pod_setting_name(&out[count], name));
        out[count].is_label = is_label;
        (void)snprintf(out[count++].value, sizeof(out->value), "%s", texts[i + 1]);
    }
    return count;
}

static void decide_at(const char *const *texts, first_seen *memory, uint64_t now,
                      policy_decision *out)
{
    pod_container containers[2] = {{.name = "app"}, {.name = "side"}};
    pod_setting on_pod[SETTINGS] = {0};
    pod_setting on_space[SETTINGS] = {0};
    pod one = {.uid = "u1",
               .name = "web-1",
               .namespace_name = "shop",
               .containers = containers,
               .container_count = 2,
               .settings = on_pod,
               .setting_count = fill(on_pod, texts, false)};
    pod_namespace space = {.uid = "n1",
                           .name = "shop",
                           .settings = on_space,
                           .setting_count = fill(on_space, texts, true)};
    const pod_policy_input input = {.pod = &one,
                                    .container = &containers[0],
                                    .space = space.setting_count > 0 ? &space : NULL,
                                    .defaults = &defaults,
                                    .now_ms = now,
                                    .memory = memory};
    pod_policy_decide(&input, out);
}

static void decide(const char *const *texts, policy_decision *out)
{
    first_seen *memory = first_seen_new();
    decide_at(texts, memory, NOW, out);
    first_seen_free(memory);
}

#define PROFILE       "hotstack.dev/profile"
#define UNTIL         "hotstack.dev/profile-until"
#define FOR           "hotstack.dev/profile-for"
#define CONTAINER     "app.hotstack.dev/profile"
#define LABEL_PROFILE "l:hotstack.dev/profile"
#define LABEL_FOR     "l:hotstack.dev/profile-for"
#define SPACE_PROFILE "n:hotstack.dev/profile"
#define SPACE_LABEL   "n:l:hotstack.dev/profile"
#define SPACE_FOR     "n:hotstack.dev/profile-for"
#define SPACE_UNTIL   "n:hotstack.dev/profile-until"
#define EARLIER       "2026-11-26T23:09:59Z"
#define SOON          "2026-11-26T23:20:00Z"
#define LATER         "2026-11-26T23:40:00Z"

static const struct {
    const char *texts[2 * SETTINGS];
    policy_mode mode;
    int minutes; /* until the end of a temporary */
    uint32_t reason;
    const char *source; /* the part of it that is compared */
} modes[] = {
    {{NULL}, POLICY_OFF, 0, REASON_DISABLED, ""},
    {{PROFILE, "continuous"},
     POLICY_CONTINUOUS,
     0,
     0,
     "annotation hotstack.dev/profile of pod shop/web-1"},
    {{LABEL_PROFILE, "continuous"}, POLICY_CONTINUOUS, 0, 0, "label hotstack.dev/profile of pod"},
    {{SPACE_PROFILE, "continuous"},
     POLICY_CONTINUOUS,
     0,
     0,
     "annotation hotstack.dev/profile of namespace shop"},
    {{CONTAINER, "continuous"}, POLICY_CONTINUOUS, 0, 0, "app.hotstack.dev/profile of pod"},
    {{"side.hotstack.dev/profile", "continuous"}, POLICY_OFF, 0, REASON_DISABLED, ""},
    /* the nearest continuous decides */
    {{SPACE_PROFILE, "continuous", PROFILE, "continuous", CONTAINER, "continuous"},
     POLICY_CONTINUOUS,
     0,
     0,
     "app.hotstack.dev/profile"},
    /* off wins at every level, by annotation or label */
    {{PROFILE, "off"}, POLICY_OFF, 0, REASON_SWITCHED_OFF, "hotstack.dev/profile of pod"},
    {{SPACE_PROFILE, "off", PROFILE, "continuous"},
     POLICY_OFF,
     0,
     REASON_SWITCHED_OFF,
     "of namespace shop"},
    {{SPACE_LABEL, "off", CONTAINER, "continuous"},
     POLICY_OFF,
     0,
     REASON_SWITCHED_OFF,
     "label hotstack.dev/profile of namespace shop"},
    {{PROFILE, "off", CONTAINER, "continuous", UNTIL, SOON},
     POLICY_OFF,
     0,
     REASON_SWITCHED_OFF,
     "hotstack.dev/profile of pod"},
    {{CONTAINER, "off", PROFILE, "continuous", FOR, "10m"},
     POLICY_OFF,
     0,
     REASON_SWITCHED_OFF,
     "app.hotstack.dev/profile"},
    {{"side.hotstack.dev/profile", "off", PROFILE, "continuous"}, POLICY_CONTINUOUS, 0, 0, "pod"},
    {{PROFILE, "continuous", LABEL_PROFILE, "off"}, POLICY_OFF, 0, REASON_SWITCHED_OFF, "label"},
    /* temporary before continuous, the nearest temporary that has not ended */
    {{UNTIL, SOON}, POLICY_TEMPORARY, 10, 0, "hotstack.dev/profile-until of pod"},
    {{FOR, "15m"}, POLICY_TEMPORARY, 15, 0, "hotstack.dev/profile-for of pod"},
    {{LABEL_FOR, "15m"}, POLICY_TEMPORARY, 15, 0, "label hotstack.dev/profile-for"},
    {{SPACE_FOR, "15m"}, POLICY_TEMPORARY, 15, 0, "of namespace shop"},
    {{SPACE_UNTIL, SOON, PROFILE, "continuous"}, POLICY_TEMPORARY, 10, 0, "of namespace shop"},
    {{SPACE_UNTIL, LATER, UNTIL, SOON}, POLICY_TEMPORARY, 10, 0, "of pod"},
    {{SPACE_UNTIL, LATER, UNTIL, EARLIER}, POLICY_TEMPORARY, 30, 0, "of namespace"},
    {{UNTIL, LATER, "app.hotstack.dev/profile-for", "1m"},
     POLICY_TEMPORARY,
     1,
     0,
     "app.hotstack.dev/profile-for"},
    /* the later one of a level's ends */
    {{UNTIL, SOON, FOR, "30m"}, POLICY_TEMPORARY, 30, 0, "profile-for"},
    {{UNTIL, SOON, FOR, "5m"}, POLICY_TEMPORARY, 10, 0, "profile-until"},
    /* ended: continuous again, or off */
    {{UNTIL, EARLIER}, POLICY_OFF, 0, REASON_EXPIRED, ""},
    {{UNTIL, EARLIER, PROFILE, "continuous"}, POLICY_CONTINUOUS, 0, 0, "hotstack.dev/profile of"},
    {{UNTIL, EARLIER, SPACE_PROFILE, "continuous"}, POLICY_CONTINUOUS, 0, 0, "of namespace shop"},
};

START_TEST(the_mode_follows_the_rules)
{
    policy_decision out;
    decide(modes[_i].texts, &out);
    ck_assert_int_eq(out.mode, modes[_i].mode);
    ck_assert_uint_eq(out.until_ms,
                      modes[_i].minutes > 0 ? NOW + (uint64_t)modes[_i].minutes * MINUTE : 0);
    ck_assert_uint_eq(out.reason, modes[_i].reason);
    ck_assert_msg(strstr(out.source, modes[_i].source) != NULL, "%s", out.source);
    ck_assert_str_eq(out.error, "");
    bool temporary = out.mode == POLICY_TEMPORARY;
    ck_assert_uint_eq(out.interval_ms, temporary ? 10000 : 60000);
    ck_assert_uint_eq(out.threads_interval_ms, temporary ? 5000 : 60000);
}
END_TEST

START_TEST(the_other_keys_take_their_nearest_value)
{
    policy_decision out;
    const char *texts[] = {FOR,
                           "10m",
                           "n:hotstack.dev/startup-delay",
                           "5m",
                           "hotstack.dev/startup-delay",
                           "90s",
                           "app.hotstack.dev/threads",
                           "30s",
                           "hotstack.dev/threads",
                           "off",
                           "l:hotstack.dev/contention-monitoring",
                           "true",
                           "n:hotstack.dev/events",
                           "cpu=1ms,lock",
                           NULL};
    decide(texts, &out);
    ck_assert_uint_eq(out.startup_delay_ms, 90000);
    ck_assert_uint_eq(out.threads_interval_ms, 30000);
    ck_assert(out.contention_monitoring);
    ck_assert_uint_eq(out.events.of[EVENT_CPU], 1000000);
    ck_assert_uint_eq(out.events.of[EVENT_ALLOC], 0);
    ck_assert_uint_eq(out.events.of[EVENT_LOCK], 10000000);
    ck_assert_str_eq(out.error, "");
    decide((const char *[]){PROFILE, "continuous", "hotstack.dev/threads", "off", NULL}, &out);
    ck_assert_uint_eq(out.threads_interval_ms, 0);
    ck_assert_uint_eq(out.startup_delay_ms, 10000);
    ck_assert_uint_eq(out.events.of[EVENT_ALLOC], 2097152);
}
END_TEST

static const struct {
    const char *texts[2 * SETTINGS];
    policy_mode mode;
    uint32_t reason;
    const char *names, *says; /* the setting; the allowed values */
} mistakes[] = {
    {{PROFILE, "continous"},
     POLICY_OFF,
     REASON_INVALID_SETTING,
     "annotation hotstack.dev/profile of pod shop/web-1: \"continous\"",
     "neither \"continuous\" nor \"off\""},
    {{PROFILE, "On", SPACE_PROFILE, "continuous"}, POLICY_CONTINUOUS, 0, "\"On\"", "continuous"},
    {{UNTIL, "tomorrow"},
     POLICY_OFF,
     REASON_INVALID_SETTING,
     "profile-until of pod",
     "2026-11-26T18:30:00Z"},
    {{UNTIL, "2026-12-03T23:10:01Z"},
     POLICY_OFF,
     REASON_INVALID_SETTING,
     "profile-until",
     "more than 7 days ahead"},
    {{FOR, "10"}, POLICY_OFF, REASON_INVALID_SETTING, "profile-for", "from 1s to 7d"},
    {{FOR, "8d"}, POLICY_OFF, REASON_INVALID_SETTING, "profile-for", "from 1s to 7d"},
    {{FOR, "0s"}, POLICY_OFF, REASON_INVALID_SETTING, "profile-for", "from 1s to 7d"},
    {{FOR, "-1s"}, POLICY_OFF, REASON_INVALID_SETTING, "profile-for", "from 1s to 7d"},
    {{FOR, "99999999999999999999d"}, POLICY_OFF, REASON_INVALID_SETTING, "profile-for", "7d"},
    {{FOR, "x", UNTIL, SOON}, POLICY_TEMPORARY, 0, "profile-for", "from 1s to 7d"},
    {{PROFILE, "continuous", "hotstack.dev/startup-delay", "2d"},
     POLICY_CONTINUOUS,
     0,
     "startup-delay",
     "from 0s to 1d"},
    {{PROFILE, "continuous", "hotstack.dev/threads", "100ms"},
     POLICY_CONTINUOUS,
     0,
     "threads of pod",
     "\"off\" nor a time from 1s to 1h"},
    {{PROFILE, "continuous", "hotstack.dev/events", "cpu,aloc"},
     POLICY_CONTINUOUS,
     0,
     "events of pod",
     "did you mean 'alloc'?"},
    {{PROFILE, "continuous", "hotstack.dev/events", "cpu,disk"},
     POLICY_CONTINUOUS,
     0,
     "events of pod",
     "\"disk\""},
    {{FOR, "1m", "hotstack.dev/contention-monitoring", "yes"},
     POLICY_TEMPORARY,
     0,
     "contention-monitoring",
     "\"true\" nor \"false\""},
    {{PROFILE, "continuous", "hotstack.dev/contention-monitoring", "true"},
     POLICY_CONTINUOUS,
     0,
     "contention-monitoring",
     "temporary profiling only"},
    {{PROFILE, "continuous", "hotstack.dev/profil", "off"},
     POLICY_CONTINUOUS,
     0,
     "hotstack.dev/profil of pod",
     "the keys are profile,"},
    {{PROFILE, "continuous", "ap.hotstack.dev/profile", "off"},
     POLICY_CONTINUOUS,
     0,
     "ap.hotstack.dev/profile",
     "container \"ap\" that the pod does not have"},
    {{PROFILE, "continuous", "n:app.hotstack.dev/profile", "off"},
     POLICY_CONTINUOUS,
     0,
     "app.hotstack.dev/profile of namespace shop",
     "on pods only"},
};

START_TEST(a_mistake_is_told_and_affects_nothing_else)
{
    policy_decision out;
    decide(mistakes[_i].texts, &out);
    ck_assert_int_eq(out.mode, mistakes[_i].mode);
    ck_assert_uint_eq(out.reason, mistakes[_i].reason);
    ck_assert_msg(strstr(out.error, mistakes[_i].names) != NULL, "%s", out.error);
    ck_assert_msg(strstr(out.error, mistakes[_i].says) != NULL, "%s", out.error);
    ck_assert_ptr_null(strstr(out.error, "more)"));
    ck_assert_uint_eq(out.startup_delay_ms, 10000);
    ck_assert_uint_eq(out.events.of[EVENT_CPU], 10000000);
    ck_assert(!out.contention_monitoring);
}
END_TEST

START_TEST(further_mistakes_are_counted)
{
    policy_decision out;
    decide((const char *[]){PROFILE, "on", "hotstack.dev/threads", "often", "hotstack.dev/events",
                            "disk", NULL},
           &out);
    ck_assert_msg(strstr(out.error, "\"on\"") != NULL, "%s", out.error);
    ck_assert_msg(strstr(out.error, "(and 2 more)") != NULL, "%s", out.error);
    /* a mistake in another container's setting does not matter here */
    decide((const char *[]){PROFILE, "continuous", "side.hotstack.dev/profile", "on", NULL}, &out);
    ck_assert_str_eq(out.error, "");
}
END_TEST

START_TEST(a_value_that_is_too_long_is_told)
{
    char longest[POD_SETTING_VALUE_MAX + 1];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    pod_container container = {.name = "app"};
    pod_setting setting = {.key = "profile", .too_long = true};
    memcpy(setting.value, longest, sizeof(longest));
    pod one = {.uid = "u1",
               .name = "web-1",
               .namespace_name = "shop",
               .containers = &container,
               .container_count = 1,
               .settings = &setting,
               .setting_count = 1};
    first_seen *memory = first_seen_new();
    const pod_policy_input input = {.pod = &one,
                                    .container = &container,
                                    .defaults = &defaults,
                                    .now_ms = NOW,
                                    .memory = memory};
    policy_decision out;
    pod_policy_decide(&input, &out);
    ck_assert_int_eq(out.mode, POLICY_OFF);
    ck_assert_msg(strstr(out.error, "longer than 255 bytes") != NULL, "%s", out.error);
    one.setting_count = 0;
    one.settings_dropped = 3;
    pod_policy_decide(&input, &out);
    ck_assert_msg(strstr(out.error, "3 hotstack.dev settings more than the 64") != NULL, "%s",
                  out.error);
    first_seen_free(memory);
}
END_TEST

START_TEST(profile_for_begins_when_it_is_first_seen)
{
    static const char *const texts[] = {FOR, "10m", NULL};
    static const char *const longer[] = {FOR, "30m", NULL};
    first_seen *memory = first_seen_new();
    policy_decision out;
    decide_at(texts, memory, NOW, &out);
    decide_at(texts, memory, NOW + 9 * MINUTE, &out);
    ck_assert_uint_eq(out.until_ms, NOW + 10 * MINUTE);
    decide_at(texts, memory, NOW + 10 * MINUTE, &out);
    ck_assert_int_eq(out.mode, POLICY_OFF);
    ck_assert_uint_eq(out.reason, REASON_EXPIRED);
    /* another value starts the time again; a clock that is set back does not */
    decide_at(longer, memory, NOW + 20 * MINUTE, &out);
    ck_assert_uint_eq(out.until_ms, NOW + 50 * MINUTE);
    decide_at(longer, memory, NOW, &out);
    ck_assert_uint_eq(out.until_ms, NOW + 30 * MINUTE);
    first_seen_free(memory);
}
END_TEST

TCase *pod_policy_tests(void)
{
    TCase *tests = tcase_create("policy");
    tcase_add_loop_test(tests, the_mode_follows_the_rules, 0, ROWS(modes));
    tcase_add_test(tests, the_other_keys_take_their_nearest_value);
    tcase_add_loop_test(tests, a_mistake_is_told_and_affects_nothing_else, 0, ROWS(mistakes));
    tcase_add_test(tests, further_mistakes_are_counted);
    tcase_add_test(tests, a_value_that_is_too_long_is_told);
    tcase_add_test(tests, profile_for_begins_when_it_is_first_seen);
    return tests;
}
