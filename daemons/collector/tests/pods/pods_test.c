/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how JVMs are joined to pods from the API server: lists, changes, restarts, trouble. */
#include "../../core/pods/pods.h"
#include "pods_tests.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START UINT64_C(1795734600000)

enum { MINUTE = 60000 };

static struct {
    uint64_t now;
    unsigned changes, saves;
    char saved[4096];
} world;

static uint64_t now_ms(void *context)
{
    (void)context;
    return world.now;
}

static void log_nothing(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static void note_change(void *context)
{
    (void)context;
    world.changes++;
}

static int save(void *context, const char *text, size_t length)
{
    (void)context;
    world.saves++;
    ck_assert_uint_lt(length, sizeof(world.saved));
    memcpy(world.saved, text, length + 1);
    return 0;
}

static pods *make(size_t max_pods, size_t max_namespaces)
{
    static const pods_ports ports = {
        .now_ms = now_ms, .log = log_nothing, .changed = note_change, .save = save};
    const pods_options options = {.max_pods = max_pods,
                                  .max_namespaces = max_namespaces,
                                  .defaults = {.events = {{[EVENT_CPU] = 1}}}};
    return pods_new(&ports, &options);
}

static void set_up(void)
{
    memset(&world, 0, sizeof(world));
    world.now = START;
}

/* Makes a pod "web" with one container; key "" = no setting. */
static pod_object a_pod(const char *uid, const char *container, const char *key, const char *value)
{
    pod_object one = {.kind = POD_KIND_POD};
    (void)snprintf(one.pod.uid, sizeof(one.pod.uid), "%s", uid);
    (void)snprintf(one.pod.name, sizeof(one.pod.name), "web-%s", uid);
    (void)snprintf(one.pod.namespace_name, sizeof(one.pod.namespace_name), "shop");
    one.pod.created_ms = START - MINUTE;
    one.pod.containers = calloc(1, sizeof(*one.pod.containers));
    one.pod.container_count = 1;
    (void)snprintf(one.pod.containers[0].name, sizeof(one.pod.containers[0].name), "app");
    (void)snprintf(one.pod.containers[0].id, sizeof(one.pod.containers[0].id), "%s", container);
    (void)snprintf(one.pod.containers[0].image, sizeof(one.pod.containers[0].image), "shop:7");
    one.pod.settings = calloc(1, sizeof(*one.pod.settings));
    one.pod.setting_count = key[0] != '\0';
    (void)snprintf(one.pod.settings[0].key, sizeof(one.pod.settings[0].key), "%s", key);
    (void)snprintf(one.pod.settings[0].value, sizeof(one.pod.settings[0].value), "%s", value);
    return one;
}

static pod_object a_namespace(const char *key, const char *value)
{
    pod_object one = {.kind = POD_KIND_NAMESPACE};
    (void)snprintf(one.space.uid, sizeof(one.space.uid), "space");
    (void)snprintf(one.space.name, sizeof(one.space.name), "shop");
    one.space.created_ms = START - MINUTE;
    one.space.settings = calloc(1, sizeof(*one.space.settings));
    one.space.setting_count = key[0] != '\0';
    (void)snprintf(one.space.settings[0].key, sizeof(one.space.settings[0].key), "%s", key);
    (void)snprintf(one.space.settings[0].value, sizeof(one.space.settings[0].value), "%s", value);
    return one;
}

static void put(pods *self, pod_object one)
{
    pods_put(self, &one);
}

static void list(pods *self, enum pod_kind kind, const pod_object *one)
{
    pods_begin_list(self, kind);
    if (one != NULL)
        put(self, *one);
    pods_end_list(self, kind);
}

static policy_decision ask(pods *self, const char *pod_uid, const char *container,
                           target_labels *labels)
{
    local_jvm jvm = {0};
    policy_decision out;
    (void)snprintf(jvm.pod_uid, sizeof(jvm.pod_uid), "%s", pod_uid);
    (void)snprintf(jvm.container_id, sizeof(jvm.container_id), "%s", container);
    ck_assert(pods_decide(self, &jvm, labels, &out));
    return out;
}

START_TEST(a_jvm_gets_the_identity_of_its_pod)
{
    pods *self = make(10, 0);
    const pod_object one = a_pod("u1", "c1", "profile", "continuous");
    list(self, POD_KIND_POD, &one);
    target_labels labels;
    ck_assert_int_eq(ask(self, "u1", "c1", &labels).mode, POLICY_CONTINUOUS);
    ck_assert_str_eq(labels.namespace_name, "shop");
    ck_assert_str_eq(labels.workload_kind, "Pod");
    ck_assert_str_eq(labels.workload, "web-u1");
    ck_assert_str_eq(labels.pod, "web-u1");
    ck_assert_str_eq(labels.container, "app");
    ck_assert_str_eq(labels.app_version, "7");
    ck_assert_str_eq(labels.image, "shop:7");
    local_jvm outside = {0};
    policy_decision out;
    ck_assert(!pods_decide(self, &outside, &labels, &out));
    pods_free(self);
}
END_TEST

START_TEST(a_static_pod_is_found_by_the_hash_of_its_manifest)
{
    pods *self = make(10, 0);
    pod_object one = a_pod("u1", "c1", "profile", "continuous");
    (void)snprintf(one.pod.config_hash, sizeof(one.pod.config_hash), "f00d");
    list(self, POD_KIND_POD, &one);
    target_labels labels;
    ck_assert_int_eq(ask(self, "f00d", "c1", &labels).mode, POLICY_CONTINUOUS);
    pods_free(self);
}
END_TEST

START_TEST(an_unknown_pod_is_left_alone)
{
    pods *self = make(10, 0);
    target_labels labels;
    pods_set_trouble(self, POD_KIND_POD, "connection refused");
    policy_decision out = ask(self, "u1", "c1", &labels);
    ck_assert_int_eq(out.mode, POLICY_OFF);
    ck_assert_uint_eq(out.reason, REASON_POD_UNKNOWN);
    ck_assert_str_eq(labels.workload, "unknown");
    ck_assert_msg(strstr(out.error, "connection refused") != NULL, "%s", out.error);
    pods_set_trouble(self, POD_KIND_POD, "");
    const pod_object one = a_pod("u1", "c1", "profile", "continuous");
    list(self, POD_KIND_POD, &one);
    ck_assert_int_eq(ask(self, "u1", "c1", &labels).mode, POLICY_CONTINUOUS);
    /* the container's id belongs to another pod, or has not arrived yet */
    ck_assert_uint_eq(ask(self, "u2", "c1", &labels).reason, REASON_POD_UNKNOWN);
    ck_assert_uint_eq(ask(self, "u1", "c2", &labels).reason, REASON_POD_UNKNOWN);
    ck_assert_uint_eq(ask(self, "u1", "", &labels).reason, REASON_POD_UNKNOWN);
    pods_free(self);
}
END_TEST

START_TEST(what_is_known_stays_while_the_server_is_away)
{
    pods *self = make(10, 0);
    const pod_object one = a_pod("u1", "c1", "profile", "continuous");
    list(self, POD_KIND_POD, &one);
    pods_set_trouble(self, POD_KIND_POD, "connection refused");
    target_labels labels;
    /* a list that breaks off removes nothing, and neither does the beginning of the next one */
    pods_begin_list(self, POD_KIND_POD);
    ck_assert_int_eq(ask(self, "u1", "c1", &labels).mode, POLICY_CONTINUOUS);
    pods_begin_list(self, POD_KIND_POD);
    put(self, a_pod("u2", "c2", "", ""));
    ck_assert_int_eq(ask(self, "u1", "c1", &labels).mode, POLICY_CONTINUOUS);
    pods_end_list(self, POD_KIND_POD);
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_POD_UNKNOWN);
    pods_free(self);
}
END_TEST

START_TEST(changes_come_into_force_at_once)
{
    pods *self = make(10, 10);
    target_labels labels;
    list(self, POD_KIND_POD, NULL);
    ck_assert_msg(strstr(ask(self, "u1", "c1", &labels).error, "namespaces") != NULL, "not known");
    list(self, POD_KIND_NAMESPACE, NULL);
    unsigned before = world.changes;
    put(self, a_pod("u1", "c1", "", ""));
    ck_assert_uint_gt(world.changes, before);
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_DISABLED);
    put(self, a_namespace("profile", "continuous"));
    ck_assert_int_eq(ask(self, "u1", "c1", &labels).mode, POLICY_CONTINUOUS);
    put(self, a_namespace("", ""));
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_DISABLED);
    ck_assert_uint_eq(pods_get_stats(self).namespaces, 0);
    pod_object gone = a_pod("u1", "c1", "", "");
    pods_remove(self, &gone);
    pod_object_clear(&gone);
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_POD_UNKNOWN);
    pods_free(self);
}
END_TEST

START_TEST(pods_past_the_limit_are_counted)
{
    pods *self = make(1, 0);
    list(self, POD_KIND_POD, NULL);
    put(self, a_pod("u1", "c1", "profile", "continuous"));
    put(self, a_pod("u2", "c2", "profile", "continuous"));
    put(self, a_pod("u1", "c1", "profile", "off"));
    target_labels labels;
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_SWITCHED_OFF);
    ck_assert_uint_eq(ask(self, "u2", "c2", &labels).reason, REASON_POD_UNKNOWN);
    ck_assert_uint_eq(pods_get_stats(self).refused, 1);
    pods_free(self);
}
END_TEST

START_TEST(profile_for_survives_a_restart)
{
    target_labels labels;
    pods *self = make(10, 0);
    list(self, POD_KIND_POD, NULL);
    put(self, a_pod("u1", "c1", "profile-for", "10m"));
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).until_ms, START + 10 * MINUTE);
    ck_assert_uint_eq(world.saves, 1);
    pods_free(self);

    world.now += 4 * MINUTE;
    self = make(10, 0);
    char message[128] = "";
    ck_assert_int_eq(
        pods_remember(self, world.saved, strlen(world.saved), message, sizeof(message)), 0);
    pod_object one = a_pod("u1", "c1", "profile-for", "10m");
    list(self, POD_KIND_POD, &one);
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).until_ms, START + 10 * MINUTE);
    /* a deleted pod is forgotten */
    list(self, POD_KIND_POD, NULL);
    ck_assert_ptr_null(strstr(world.saved, "u1"));
    pods_free(self);
}
END_TEST

START_TEST(without_its_memory_old_pods_count_as_ended)
{
    target_labels labels;
    pods *self = make(10, 0);
    pods_begin_list(self, POD_KIND_POD);
    put(self, a_pod("u1", "c1", "profile-for", "10m"));
    pod_object fresh = a_pod("u2", "c2", "profile-for", "10m");
    fresh.pod.created_ms = START + 1;
    put(self, fresh);
    pods_end_list(self, POD_KIND_POD);
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).reason, REASON_EXPIRED);
    ck_assert_int_eq(ask(self, "u2", "c2", &labels).mode, POLICY_TEMPORARY);
    /* the time of an annotation that is added later begins now, on an old pod, too */
    put(self, a_pod("u1", "c1", "profile-for", "20m"));
    ck_assert_uint_eq(ask(self, "u1", "c1", &labels).until_ms, START + 20 * MINUTE);
    pods_free(self);
}
END_TEST

START_TEST(a_damaged_memory_is_told)
{
    static const char *const texts[] = {"", "something else\n", "hotstack-first-seen 1\nu1 10m\n",
                                        "hotstack-first-seen 1\nu1 10m 7 8\n",
                                        "hotstack-first-seen 1\nu1 10m 7"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        pods *self = make(1, 0);
        char message[128] = "";
        ck_assert_int_eq(pods_remember(self, texts[i], strlen(texts[i]), message, sizeof(message)),
                         -1);
        ck_assert_str_ne(message, "");
        pods_free(self);
    }
}
END_TEST

TCase *pods_tests(void)
{
    TCase *tests = tcase_create("pods");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_jvm_gets_the_identity_of_its_pod);
    tcase_add_test(tests, a_static_pod_is_found_by_the_hash_of_its_manifest);
    tcase_add_test(tests, an_unknown_pod_is_left_alone);
    tcase_add_test(tests, what_is_known_stays_while_the_server_is_away);
    tcase_add_test(tests, changes_come_into_force_at_once);
    tcase_add_test(tests, pods_past_the_limit_are_counted);
    tcase_add_test(tests, profile_for_survives_a_restart);
    tcase_add_test(tests, without_its_memory_old_pods_count_as_ended);
    tcase_add_test(tests, a_damaged_memory_is_told);
    return tests;
}
