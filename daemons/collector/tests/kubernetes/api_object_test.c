/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how JSON of the API server becomes pods, namespaces, pages and events, and how lines are
 * cut from a stream. */
#include "../../adapters/kubernetes/api_object.h"
#include "../../adapters/kubernetes/lines.h"
#include "kubernetes_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_suite.h"

static const char whole_pod[] =
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{"
    "\"uid\":\"8dbc5577-d0e2-4706-8787-57d52c03ddf2\",\"name\":\"web-6d4-x\",\"namespace\":"
    "\"shop\","
    "\"resourceVersion\":\"42\",\"creationTimestamp\":\"2026-11-26T23:10:00Z\","
    "\"labels\":{\"pod-template-hash\":\"6d4\",\"app.kubernetes.io/version\":\"7\","
    "\"app.kubernetes.io/name\":\"web\",\"hotstack.dev/threads\":\"off\",\"other\":\"x\"},"
    "\"annotations\":{\"hotstack.dev/profile\":\"continuous\",\"app.hotstack.dev/events\":\"cpu\","
    "\"kubernetes.io/config.hash\":\"f00d\"},"
    "\"ownerReferences\":[{\"kind\":\"Odd\",\"name\":\"o\"},"
    "{\"kind\":\"ReplicaSet\",\"name\":\"web-6d4\",\"controller\":true}]},"
    "\"spec\":{\"nodeName\":\"node7\",\"containers\":[{\"name\":\"app\",\"image\":\"web:7\","
    "\"env\":[{\"name\":\"A\",\"valueFrom\":{}},{\"name\":\"OTEL_SERVICE_NAME\",\"value\":\"w\"}]}]"
    ","
    "\"initContainers\":[{\"name\":\"side\",\"image\":\"s\",\"restartPolicy\":\"Always\"}],"
    "\"ephemeralContainers\":[{\"name\":\"debug\",\"image\":\"d\"}]},"
    "\"status\":{\"containerStatuses\":[{\"name\":\"app\",\"containerID\":\"containerd://c1\"}],"
    "\"initContainerStatuses\":[{\"name\":\"side\",\"containerID\":\"cri-o://c2\"}],"
    "\"ephemeralContainerStatuses\":[{\"name\":\"debug\",\"containerID\":\"\"}]}}}";

START_TEST(a_pod_is_read_whole)
{
    api_event event;
    char message[256] = "";
    ck_assert_int_eq(api_event_read(&event, POD_KIND_POD, whole_pod, strlen(whole_pod), message,
                                    sizeof(message)),
                     0);
    const pod *one = &event.object.pod;
    ck_assert_int_eq(event.type, API_EVENT_PUT);
    ck_assert_str_eq(event.resource_version, "42");
    ck_assert_str_eq(one->uid, "8dbc5577-d0e2-4706-8787-57d52c03ddf2");
    ck_assert_str_eq(one->node, "node7");
    ck_assert_str_eq(one->owner_kind, "ReplicaSet");
    ck_assert_str_eq(one->template_hash, "6d4");
    ck_assert_str_eq(one->version, "7");
    ck_assert_str_eq(one->config_hash, "f00d");
    ck_assert_uint_eq(one->created_ms, UINT64_C(1795734600000));
    ck_assert_uint_eq(one->container_count, 3);
    ck_assert_str_eq(one->containers[0].id, "c1");
    ck_assert_str_eq(one->containers[0].image, "web:7");
    ck_assert_str_eq(pod_service(one, &one->containers[0]), "web");
    ck_assert_str_eq(one->containers[0].otel_service, "w");
    ck_assert_str_eq(one->containers[1].name, "side");
    ck_assert_str_eq(one->containers[1].id, "c2");
    ck_assert_str_eq(one->containers[2].id, "");
    ck_assert_uint_eq(one->setting_count, 3);
    ck_assert_str_eq(one->settings[1].container, "app");
    ck_assert(one->settings[2].is_label);
    api_event_clear(&event);
}
END_TEST

static const struct {
    const char *text;
    int rc;
    enum api_event_type type;
    const char *says;
} events[] = {
    {"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}", 0,
     API_EVENT_BOOKMARK, ""},
    {"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"uid\":\"u\"}}}", 0, API_EVENT_REMOVED, ""},
    {"{\"type\":\"DELETED\",\"object\":{}}", -1, API_EVENT_REMOVED, "without a uid"},
    {"{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}", 0, API_EVENT_ERROR,
     ""},
    {"{\"type\":\"NEWS\",\"object\":{}}", 0, API_EVENT_UNKNOWN, ""},
    {"{\"type\":7}", 0, API_EVENT_UNKNOWN, ""},
    {"{\"type\":\"ADDED\"}", -1, API_EVENT_PUT, "without a uid"},
    {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"a b\",\"name\":\"n\","
     "\"namespace\":\"s\"}}}",
     -1, API_EVENT_PUT, "without a uid"},
    {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"u\",\"name\":\"n\"}}}", -1,
     API_EVENT_PUT, "namespace"},
    {"[]", -1, API_EVENT_UNKNOWN, "not a JSON object"},
    {"{", -1, API_EVENT_UNKNOWN, "not JSON"},
    {"", -1, API_EVENT_UNKNOWN, "not JSON"},
    {"<html>", -1, API_EVENT_UNKNOWN, "not JSON"},
};

START_TEST(an_event_is_read_or_refused)
{
    api_event event;
    char message[256] = "";
    int rc = api_event_read(&event, POD_KIND_POD, events[_i].text, strlen(events[_i].text), message,
                            sizeof(message));
    ck_assert_int_eq(rc, events[_i].rc);
    ck_assert_int_eq(event.type, events[_i].type);
    ck_assert_msg(strstr(message, events[_i].says) != NULL, "%s", message);
    api_event_clear(&event);
}
END_TEST

/* Makes a pod with so many containers, or so many settings of ours. */
static char *large_pod(unsigned containers, unsigned settings)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    (void)fprintf(to, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"u\",\"name\":\"n\","
                      "\"namespace\":\"s\",\"annotations\":{\"x\":\"\"");
    for (unsigned i = 0; i < settings; i++)
        (void)fprintf(to, ",\"hotstack.dev/k%u\":\"%0300u\"", i, i);
    (void)fprintf(to, "}},\"spec\":{\"containers\":[{}");
    for (unsigned i = 1; i < containers; i++)
        (void)fprintf(to, ",{\"name\":\"c%u\"}", i);
    (void)fprintf(to, "]}}}");
    (void)fclose(to);
    return text;
}

START_TEST(limits_of_a_pod_are_told)
{
    api_event event;
    char message[256] = "";
    char *text = large_pod(POD_CONTAINERS_MAX + 1, 0);
    ck_assert_int_eq(
        api_event_read(&event, POD_KIND_POD, text, strlen(text), message, sizeof(message)), -1);
    ck_assert_msg(strstr(message, "pod s/n has 65 containers") != NULL, "%s", message);
    api_event_clear(&event);
    free(text);
    text = large_pod(POD_CONTAINERS_MAX, POD_SETTINGS_MAX + 2);
    ck_assert_int_eq(
        api_event_read(&event, POD_KIND_POD, text, strlen(text), message, sizeof(message)), 0);
    ck_assert_uint_eq(event.object.pod.setting_count, POD_SETTINGS_MAX);
    ck_assert_uint_eq(event.object.pod.settings_dropped, 2);
    ck_assert(event.object.pod.settings[0].too_long);
    ck_assert_uint_eq(strlen(event.object.pod.settings[0].value), POD_SETTING_VALUE_MAX);
    api_event_clear(&event);
    free(text);
}
END_TEST

static size_t taken;

static void take(void *context, pod_object *one)
{
    (void)context;
    taken += one->space.name[0] != '\0';
}

START_TEST(a_page_gives_its_objects)
{
    static const char text[] =
        "{\"kind\":\"PartialObjectMetadataList\",\"metadata\":{\"resourceVersion\":\"7\","
        "\"continue\":\"c==\"},"
        "\"items\":[{\"metadata\":{\"uid\":\"u1\",\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}},"
        "{\"metadata\":{\"uid\":\"u3\",\"name\":\"c\"}}]}";
    api_page *page = calloc(1, sizeof(*page));
    char message[256] = "";
    taken = 0;
    ck_assert_int_eq(api_page_read(page, POD_KIND_NAMESPACE, text, strlen(text), take, NULL,
                                   message, sizeof(message)),
                     0);
    ck_assert_uint_eq(taken, 2);
    ck_assert_uint_eq(page->bad, 1);
    ck_assert_str_eq(page->more, "c==");
    ck_assert_str_eq(page->resource_version, "7");
    static const char *const others[] = {
        "{}",
        "{\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"7\"}}",
        "[",
        "null",
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_int_eq(api_page_read(page, POD_KIND_NAMESPACE, others[i], strlen(others[i]), take,
                                       NULL, message, sizeof(message)),
                         -1);
    free(page);
}
END_TEST

static char joined[64];

static int join(void *context, const char *line, size_t length)
{
    (void)context;
    size_t used = strlen(joined);
    (void)snprintf(joined + used, sizeof(joined) - used, "%.*s|", (int)length, line);
    return strncmp(line, "stop", length) == 0 ? -1 : 0;
}

START_TEST(a_stream_is_cut_into_lines)
{
    lines cut = {.max = 5};
    static const char stream[] = "one\n\ntwo\nthree\n";
    joined[0] = '\0';
    for (size_t i = 0; i < strlen(stream); i++) /* byte by byte */
        ck_assert_int_eq(lines_add(&cut, stream + i, 1, join, NULL), 0);
    ck_assert_int_eq(lines_add(&cut, stream, strlen(stream), join, NULL), 0);
    ck_assert_str_eq(joined, "one|two|three|one|two|three|");
    ck_assert_int_eq(lines_add(&cut, "stop\nmore\n", 10, join, NULL), LINES_ERR_STOPPED);
    lines_clear(&cut);
    ck_assert_int_eq(lines_add(&cut, "abc", 3, join, NULL), 0);
    ck_assert_int_eq(lines_add(&cut, "def", 3, join, NULL), LINES_ERR_LIMIT);
    lines_clear(&cut);
}
END_TEST

TCase *api_object_tests(void)
{
    TCase *tests = tcase_create("objects");
    tcase_add_test(tests, a_pod_is_read_whole);
    tcase_add_loop_test(tests, an_event_is_read_or_refused, 0, ROWS(events));
    tcase_add_test(tests, limits_of_a_pod_are_told);
    tcase_add_test(tests, a_page_gives_its_objects);
    tcase_add_test(tests, a_stream_is_cut_into_lines);
    return tests;
}
