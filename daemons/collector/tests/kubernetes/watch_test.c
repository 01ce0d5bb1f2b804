/* SPDX-License-Identifier: Apache-2.0 */
/* Tests lists and watches with a fake server whose answers the test sets. */
#include "../../adapters/kubernetes/watch.h"
#include "kubernetes_tests.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 16, WAITS = 32 };

typedef struct step {
    const char *wanted; /* part of the path */
    int status;
    const char *body;
    const char *message;
    uint64_t retry_after_ms;
} step;

static struct {
    step steps[STEPS];
    size_t count, next;
    char paths[STEPS][512];
    uint64_t waits[WAITS]; /* those greater than 0 */
    size_t wait_count;
    char log[2048];
    char trouble[512]; /* about the JVM in the test, after the last step */
} server;

static pods *feed;

static uint64_t now_ms(void *context)
{
    (void)context;
    return UINT64_C(1795734600000);
}

static void nothing(void *context)
{
    (void)context;
}

static int save(void *context, const char *text, size_t length)
{
    (void)context;
    (void)text;
    (void)length;
    return 0;
}

static void keep_log(void *context, const char *message)
{
    (void)context;
    size_t used = strlen(server.log);
    (void)snprintf(server.log + used, sizeof(server.log) - used, "%s\n", message);
}

static uint64_t random_number(void *context)
{
    (void)context;
    return 0;
}

static void get(void *context, const watch_request *request, watch_answer *out)
{
    (void)context;
    const step *now = &server.steps[server.next];
    *out = (watch_answer){0};
    (void)snprintf(server.paths[server.next], sizeof(server.paths[0]), "%s", request->path);
    ck_assert_msg(strstr(request->path, now->wanted) != NULL, "step %zu: %s, not %s", server.next,
                  request->path, now->wanted);
    server.next++;
    out->status = now->status;
    out->retry_after_ms = now->retry_after_ms;
    if (now->message != NULL)
        (void)snprintf(out->message, sizeof(out->message), "%s", now->message);
    if (now->status != 200)
        return;
    request->started(request->context);
    size_t length = now->body != NULL ? strlen(now->body) : 0;
    for (size_t at = 0; at < length; at += 7) {
        if (request->take(request->context, now->body + at, length - at < 7 ? length - at : 7) != 0)
            return;
    }
}

static bool wait_ms(void *context, uint64_t ms)
{
    (void)context;
    if (ms > 0 && server.wait_count < WAITS)
        server.waits[server.wait_count++] = ms;
    return server.next < server.count;
}

#define LIST          "/api/v1/pods?limit="
#define FROM(version) "&resourceVersion=" version
#define POD(uid, version)                                                                          \
    "{\"metadata\":{\"uid\":\"" uid "\",\"name\":\"" uid "\",\"namespace\":\"s\","                 \
    "\"resourceVersion\":\"" version                                                               \
    "\",\"annotations\":{\"hotstack.dev/profile\":\"continuous\"}},"                               \
    "\"spec\":{\"containers\":[{\"name\":\"app\"}]},\"status\":{\"containerStatuses\":["           \
    "{\"name\":\"app\",\"containerID\":\"x://" uid "\"}]}}"
#define PAGE(version, more, items)                                                                 \
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" more \
    "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version)   EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define ERROR(code)         EVENT("ERROR", "{\"kind\":\"Status\",\"code\":" code "}")
#define STEP(part, status, body)                                                                   \
    {                                                                                              \
        part, status, body, NULL, 0                                                                \
    }
#define BROKEN(part, status, why)                                                                  \
    {                                                                                              \
        part, status, NULL, why, 0                                                                 \
    }

static bool is_on(const char *uid)
{
    local_jvm jvm = {0};
    target_labels labels;
    policy_decision out;
    (void)snprintf(jvm.pod_uid, sizeof(jvm.pod_uid), "%s", uid);
    (void)snprintf(jvm.container_id, sizeof(jvm.container_id), "%s", uid);
    ck_assert(pods_decide(feed, &jvm, &labels, &out));
    (void)snprintf(server.trouble, sizeof(server.trouble), "%s", out.error);
    return out.mode == POLICY_CONTINUOUS;
}

/* Plays the steps; the watch ends after the last. */
static watch_stats play(const step *steps, size_t count)
{
    static const watch_ports ports = {
        .get = get, .wait = wait_ms, .random = random_number, .log = keep_log};
    static const pods_ports feed_ports = {
        .now_ms = now_ms, .log = keep_log, .changed = nothing, .save = save};
    const pods_options feed_options = {.max_pods = 10};
    const watch_options options = {.kind = POD_KIND_POD,
                                   .node = "node/7",
                                   .event_bytes = 1000,
                                   .page_bytes = 1000,
                                   .backoff_min_ms = 1000,
                                   .backoff_max_ms = 8000,
                                   .watch_seconds = 100};
    memset(&server, 0, sizeof(server));
    memcpy(server.steps, steps, count * sizeof(*steps));
    server.count = count;
    pods_free(feed);
    feed = pods_new(&feed_ports, &feed_options);
    watch *self = watch_new(&ports, &options, feed);
    watch_run(self);
    watch_stats stats = watch_get_stats(self);
    watch_free(self);
    ck_assert_uint_eq(server.next, count);
    return stats;
}

#define PLAY(steps) play((steps), sizeof(steps) / sizeof((steps)[0]))

static void clean_up(void)
{
    pods_free(feed);
    feed = NULL;
}

START_TEST(a_list_in_pages_then_a_watch_that_goes_on)
{
    static const step steps[] = {
        STEP("/api/v1/pods?limit=100&fieldSelector=spec.nodeName%3Dnode%2F7", 200,
             PAGE("5", "a/b", POD("u1", "1"))),
        STEP("&continue=a%2Fb", 200, PAGE("5", "", POD("u2", "2"))),
        STEP(FROM("5"), 200,
             EVENT("ADDED", POD("u3", "6")) EVENT("DELETED", POD("u1", "7")) BOOKMARK("9")),
        STEP("watch=1&allowWatchBookmarks=true&timeoutSeconds=100&fieldSelector=", 200, ""),
        STEP(FROM("9"), 200, ""),
    };
    watch_stats stats = PLAY(steps);
    ck_assert(!is_on("u1"));
    ck_assert(is_on("u2"));
    ck_assert(is_on("u3"));
    ck_assert_uint_eq(stats.lists, 1);
    ck_assert_uint_eq(stats.watches, 3);
    ck_assert_uint_eq(stats.events, 3);
    ck_assert_uint_eq(stats.failures, 0);
    ck_assert_str_eq(server.log, "");
}
END_TEST

START_TEST(a_version_that_is_gone_means_a_new_list)
{
    static const step steps[] = {
        STEP(LIST, 200, PAGE("5", "", POD("u1", "1") "," POD("u2", "2"))),
        STEP(FROM("5"), 200, ERROR("410")), /* as an event */
        STEP(LIST, 200, PAGE("6", "", POD("u1", "1"))),
        STEP(FROM("6"), 200, BOOKMARK("7")),
        STEP(FROM("7"), 410, NULL), /* as an answer */
        STEP(LIST, 200, PAGE("8", "c", POD("u1", "1"))),
        STEP("&continue=c", 410, NULL), /* to a page whose list is too old */
        STEP(LIST, 200, PAGE("9", "", POD("u1", "1"))),
        STEP(FROM("9"), 200, BOOKMARK("9")),
    };
    watch_stats stats = PLAY(steps);
    ck_assert(is_on("u1"));
    ck_assert(!is_on("u2"));
    ck_assert_uint_eq(stats.gone, 3);
    ck_assert_uint_eq(stats.lists, 3);
    ck_assert_uint_eq(stats.failures, 1); /* only the list that broke off */
}
END_TEST

START_TEST(a_server_that_is_always_gone_is_not_flooded)
{
    static const step steps[] = {
        STEP(LIST, 200, PAGE("5", "", "")), STEP(FROM("5"), 200, ERROR("410")),
        STEP(LIST, 200, PAGE("5", "", "")), STEP(FROM("5"), 200, ERROR("410")),
        STEP(LIST, 200, PAGE("5", "", "")), STEP(FROM("5"), 200, ERROR("410")),
        STEP(LIST, 200, PAGE("5", "", "")), STEP(FROM("5"), 200, ""),
    };
    PLAY(steps);
    ck_assert_uint_eq(server.waits[0], 1000);
    ck_assert_uint_eq(server.waits[1], 2000);
}
END_TEST

START_TEST(failures_wait_longer_each_time_and_take_nothing_away)
{
    static const step steps[] = {
        STEP(LIST, 200, PAGE("5", "", POD("u1", "1"))),
        BROKEN(FROM("5"), 0, "connection refused"),
        BROKEN(FROM("5"), 0, "connection refused"),
        STEP(FROM("5"), 500, NULL),
        STEP(FROM("5"), 200, "{}\n"),
        BROKEN(FROM("5"), 200, "the connection broke"),
        {FROM("5"), 429, NULL, NULL, 60000},
        STEP(FROM("5"), 200, EVENT("ADDED", POD("u2", "6"))),
        BROKEN(FROM("6"), 0, "connection refused"),
        STEP(FROM("6"), 200, BOOKMARK("7")),
    };
    watch_stats stats = PLAY(steps);
    /* half of 1, 2, 4 and then 8 s, since the random part is 0 here; then what the server asks */
    static const uint64_t waits[] = {500, 1000, 2000, 4000, 4000, 60000, 500, 500};
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(server.waits[i], waits[i]);
    ck_assert_uint_eq(server.waits[7], waits[7]); /* an event arrived in between */
    ck_assert(is_on("u1"));
    ck_assert(is_on("u2"));
    ck_assert_uint_eq(stats.lists, 1);
    ck_assert_uint_eq(stats.failures, 7);
    /* Reported once, not for each try. */
    const char *first = strstr(server.log, "cannot follow pods: connection refused");
    ck_assert_ptr_nonnull(first);
    ck_assert_msg(strstr(server.log, "pods are told again") != NULL, "%s", server.log);
}
END_TEST

/* The server is away for five minutes, and has then forgotten the version. */
START_TEST(five_minutes_away_take_nothing_away)
{
    enum { AWAY_MS = 60000 };
    static const step steps[] = {
        STEP(LIST, 200, PAGE("5", "", POD("u1", "1"))),
        {FROM("5"), 503, NULL, NULL, AWAY_MS},
        {FROM("5"), 503, NULL, NULL, AWAY_MS},
        {FROM("5"), 503, NULL, NULL, AWAY_MS},
        {FROM("5"), 503, NULL, NULL, AWAY_MS},
        {FROM("5"), 503, NULL, NULL, AWAY_MS},
        STEP(FROM("5"), 200, ERROR("410")),
        STEP(LIST, 200, PAGE("900", "", POD("u1", "1"))),
        STEP(FROM("900"), 200, BOOKMARK("901")),
    };
    watch_stats stats = PLAY(steps);
    uint64_t waited = 0;
    for (size_t i = 0; i < server.wait_count; i++)
        waited += server.waits[i];
    ck_assert_uint_ge(waited, 5 * AWAY_MS);
    ck_assert(is_on("u1"));
    ck_assert_uint_eq(stats.lists, 2);
    ck_assert_uint_eq(stats.gone, 1);
}
END_TEST

static const struct {
    step last;
    const char *says;
} troubles[] = {
    {STEP(LIST, 401, NULL), "kubernetes.token_file"},
    {{LIST, 403, NULL, "pods is forbidden", 0}, "get, list and watch on pods"},
    {BROKEN(LIST, 0, "tls: no certificate"), "tls: no certificate"},
    {STEP(LIST, 200, "nonsense"), "not JSON"},
    {STEP(LIST, 200, "{}"), "not a PodList"},
    {STEP(LIST, 200, ""), "not JSON"},
    {STEP(LIST, 302, NULL), "HTTP 302"},
};

START_TEST(a_pod_that_cannot_be_known_says_why)
{
    /* Two, because the end of the last step ends the watch before it reports. */
    const step steps[] = {troubles[_i].last, troubles[_i].last};
    PLAY(steps);
    ck_assert(!is_on("u1"));
    ck_assert_msg(strstr(server.trouble, troubles[_i].says) != NULL, "%s", server.trouble);
}
END_TEST

START_TEST(what_is_too_large_is_told_and_passed_by)
{
    char event[1200];
    memset(event, ' ', sizeof(event) - 1);
    event[sizeof(event) - 1] = '\0';
    const step steps[] = {
        {"?limit=100&", 200, event, NULL, 0},
        STEP("?limit=25&", 200, PAGE("5", "", POD("u1", "1"))),
        {FROM("5"), 200, event, NULL, 0},
        STEP(LIST, 200, PAGE("6", "", POD("u1", "1"))),
        STEP(FROM("6"), 200, BOOKMARK("6")),
    };
    PLAY(steps);
    ck_assert(is_on("u1"));
    ck_assert_msg(strstr(server.log, "limits.api_page_bytes (1000)") != NULL, "%s", server.log);
    ck_assert_msg(strstr(server.log, "limits.api_event_bytes (1000)") != NULL, "%s", server.log);
}
END_TEST

START_TEST(an_object_that_cannot_be_read_is_left_out_alone)
{
    static const step steps[] = {
        STEP(LIST, 200, PAGE("5", "", "{\"metadata\":{\"uid\":\"bad\"}}," POD("u1", "1"))),
        STEP(FROM("5"), 200,
             EVENT("ADDED", "{\"metadata\":{\"uid\":\"bad\",\"resourceVersion\":\"6\"}}")
                 EVENT("ADDED", POD("u2", "7"))),
        STEP(FROM("7"), 200, ""),
    };
    watch_stats stats = PLAY(steps);
    ck_assert(is_on("u1"));
    ck_assert(is_on("u2"));
    ck_assert_uint_eq(stats.failures, 0);
    ck_assert_msg(strstr(server.log, "1 objects of a list are left out") != NULL, "%s", server.log);
    ck_assert_msg(strstr(server.log, "an event is left out") != NULL, "%s", server.log);
}
END_TEST

TCase *watch_tests(void)
{
    TCase *tests = tcase_create("watch");
    tcase_add_checked_fixture(tests, NULL, clean_up);
    tcase_add_test(tests, a_list_in_pages_then_a_watch_that_goes_on);
    tcase_add_test(tests, a_version_that_is_gone_means_a_new_list);
    tcase_add_test(tests, a_server_that_is_always_gone_is_not_flooded);
    tcase_add_test(tests, failures_wait_longer_each_time_and_take_nothing_away);
    tcase_add_test(tests, five_minutes_away_take_nothing_away);
    tcase_add_loop_test(tests, a_pod_that_cannot_be_known_says_why, 0,
                        (int)(sizeof(troubles) / sizeof(troubles[0])));
    tcase_add_test(tests, what_is_too_large_is_told_and_passed_by);
    tcase_add_test(tests, an_object_that_cannot_be_read_is_left_out_alone);
    return tests;
}
