/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the facts that follow from a pod alone: workload, version, service, and names of
 * settings. */
#include "../../core/pods/pod.h"
#include "pods_tests.h"

#include <stdio.h>
#include <string.h>

#include "run_suite.h"

static const struct {
    const char *pod, *node, *owner_kind, *owner, *hash;
    const char *kind, *name;
} workloads[] = {
    {"shop-6d4b75cb6d-x2x9z", "", "ReplicaSet", "shop-6d4b75cb6d", "6d4b75cb6d", "Deployment",
     "shop"},
    {"a-b-6d4b75cb6d-x", "", "ReplicaSet", "a-b-6d4b75cb6d", "6d4b75cb6d", "Deployment", "a-b"},
    /* a ReplicaSet that no Deployment made: no hash, or a hash that is not the end of the name */
    {"shop-x2x9z", "", "ReplicaSet", "shop", "", "ReplicaSet", "shop"},
    {"shop-abc-x", "", "ReplicaSet", "shop-abc", "6d4b75cb6d", "ReplicaSet", "shop-abc"},
    {"x", "", "ReplicaSet", "-6d4b", "6d4b", "ReplicaSet", "-6d4b"},
    {"report-29403360-k7", "", "Job", "report-29403360", "", "CronJob", "report"},
    {"report-2-k7", "", "Job", "report-2", "", "Job", "report-2"},
    {"report-k7", "", "Job", "report", "", "Job", "report"},
    {"db-0", "", "StatefulSet", "db", "", "StatefulSet", "db"},
    {"agent-z8", "", "DaemonSet", "agent", "", "DaemonSet", "agent"},
    {"main-0", "", "Workflow", "main", "", "Workflow", "main"},
    {"etcd-node7", "node7", "Node", "node7", "", "Pod", "etcd"},
    {"etcd", "node7", "Node", "node7", "", "Pod", "etcd"},
    {"lonely", "node7", "", "", "", "Pod", "lonely"},
    {"lonely", "node7", "Odd", "", "", "Pod", "lonely"},
};

START_TEST(a_pod_tells_its_workload)
{
    pod one = {0};
    char kind[32];
    char name[254];
    (void)snprintf(one.name, sizeof(one.name), "%s", workloads[_i].pod);
    (void)snprintf(one.node, sizeof(one.node), "%s", workloads[_i].node);
    (void)snprintf(one.owner_kind, sizeof(one.owner_kind), "%s", workloads[_i].owner_kind);
    (void)snprintf(one.owner_name, sizeof(one.owner_name), "%s", workloads[_i].owner);
    (void)snprintf(one.template_hash, sizeof(one.template_hash), "%s", workloads[_i].hash);
    pod_workload(&one, kind, sizeof(kind), name, sizeof(name));
    ck_assert_str_eq(kind, workloads[_i].kind);
    ck_assert_str_eq(name, workloads[_i].name);
}
END_TEST

static const struct {
    const char *label, *image, *version;
} versions[] = {
    {"2.4.1", "registry:5000/shop:9", "2.4.1"},
    {"", "shop:9", "9"},
    {"", "registry:5000/team/shop:9-alpine", "9-alpine"},
    {"", "registry:5000/team/shop", ""},
    {"", "shop:9@sha256:0123", "9"},
    {"", "shop@sha256:0123", ""},
    {"", "", ""},
};

START_TEST(the_version_is_the_label_or_the_tag)
{
    pod one = {0};
    pod_container container = {0};
    char out[64];
    (void)snprintf(one.version, sizeof(one.version), "%s", versions[_i].label);
    (void)snprintf(container.image, sizeof(container.image), "%s", versions[_i].image);
    pod_version(&one, &container, out, sizeof(out));
    ck_assert_str_eq(out, versions[_i].version);
}
END_TEST

#define LONG63 "a23456789012345678901234567890123456789012345678901234567890123"

static const struct {
    const char *text;
    bool ours;
    const char *container, *key;
} names[] = {
    {"hotstack.dev/profile", true, "", "profile"},
    {"app.hotstack.dev/profile-for", true, "app", "profile-for"},
    {LONG63 ".hotstack.dev/events", true, LONG63, "events"},
    {LONG63 "4.hotstack.dev/events", false, "", ""},
    {"hotstack.dev/", true, "", ""},
    {"hotstack.dev/" LONG63, true, "", LONG63},
    {"hotstack.dev/4" LONG63, false, "", ""},
    {".hotstack.dev/profile", false, "", ""},
    {"nothotstack.dev/profile", false, "", ""},
    {"hotstack.dev.example/profile", false, "", ""},
    {"profile", false, "", ""},
    {"/profile", false, "", ""},
    {"", false, "", ""},
};

START_TEST(a_setting_has_a_container_and_a_key)
{
    pod_setting one = {0};
    ck_assert_int_eq(pod_setting_name(&one, names[_i].text), names[_i].ours);
    if (!names[_i].ours)
        return;
    ck_assert_str_eq(one.container, names[_i].container);
    ck_assert_str_eq(one.key, names[_i].key);
}
END_TEST

TCase *pod_tests(void)
{
    TCase *tests = tcase_create("pod");
    tcase_add_loop_test(tests, a_pod_tells_its_workload, 0, ROWS(workloads));
    tcase_add_loop_test(tests, the_version_is_the_label_or_the_tag, 0, ROWS(versions));
    tcase_add_loop_test(tests, a_setting_has_a_container_and_a_key, 0, ROWS(names));
    return tests;
}
