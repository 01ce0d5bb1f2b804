/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the page of metrics of a collector in which every counter has counted. */
#include "../adapters/metrics.h"
#include "fake_host.h"

#include <catalogue/reason.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uploader *uploads;
static transport *http;
static unsigned posts;

static uint64_t now_ms(void *context)
{
    (void)context;
    return host.now;
}

static uint64_t random_number(void *context)
{
    (void)context;
    return 3;
}

static void ignore_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* The first batches get each answer once; later ones are accepted. */
static void post(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                 upload_answer *out)
{
    static const enum upload_outcome answers[] = {UPLOAD_RETRY, UPLOAD_NEED_STACKS,
                                                  UPLOAD_DUPLICATE, UPLOAD_REJECTED};
    (void)context;
    (void)bytes;
    (void)length;
    *out = (upload_answer){.outcome = UPLOAD_ACCEPTED, .has_limits = true};
    if (call != UPLOAD_PROFILES)
        return;
    if (posts < sizeof(answers) / sizeof(answers[0]))
        out->outcome = answers[posts];
    posts++;
}

static uint64_t token_generation(void *context)
{
    (void)context;
    return 0;
}

static int give_bytes(uint8_t **out, size_t *length)
{
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static int pack_entry(void *context, const uint8_t *entry, size_t length, bool all_stacks,
                      const entry_tries *tries, uint8_t **out, size_t *out_length)
{
    (void)context;
    (void)entry;
    (void)length;
    (void)all_stacks;
    (void)tries;
    return give_bytes(out, out_length);
}

static int decode(void *context, const uint8_t *entry, size_t length, batch *out)
{
    (void)context;
    (void)entry;
    (void)length;
    sample_batch(out, 1, 1, 1);
    return 0;
}

static int note_stored(void *context, const uint8_t *entry, size_t length, entry_sums *sums)
{
    (void)context;
    (void)entry;
    (void)length;
    sums->rows = 2;
    sums->of[PROFILE_SOURCE_CPU].raw_amount = 3;
    return 0;
}

static int encode_status(void *context, const status_report *report, uint8_t **out, size_t *length)
{
    (void)context;
    (void)report;
    return give_bytes(out, length);
}

static int encode_heartbeat(void *context, const heartbeat *beat, uint8_t **out, size_t *length)
{
    (void)context;
    (void)beat;
    return give_bytes(out, length);
}

static void snapshot(void *context, status_report *out)
{
    (void)context;
    collector_snapshot(core, out);
}

static void reported(void *context, const status_report *report)
{
    (void)context;
    (void)report;
}

static void set_up(void)
{
    const uploader_ports ports = {
        .now_ms = now_ms,
        .steady_ms = now_ms,
        .random = random_number,
        .log = ignore_line,
        .post = post,
        .token_generation = token_generation,
        .decode = decode,
        .pack_entry = pack_entry,
        .note_stored = note_stored,
        .encode_status = encode_status,
        .encode_heartbeat = encode_heartbeat,
        .snapshot = snapshot,
        .reported = reported,
    };
    const uploader_options options = {.backoff_min_ms = 10,
                                      .backoff_max_ms = 10,
                                      .status_interval_ms = 60000,
                                      .status_gap_ms = 1000,
                                      .heartbeat_interval_ms = 30000};
    fake_host_set_up();
    posts = 0;
    uploads = uploader_new(&ports, &options, queued);
    const transport_options unused = {
        .url = "http://127.0.0.1:9", .token = "", .ca_file = "", .user_agent = "test"};
    char message[256] = "";
    http = transport_new(&unused, message, sizeof(message));
    ck_assert_msg(http != NULL, "%s", message);
}

static void tear_down(void)
{
    transport_free(http);
    uploader_free(uploads);
    fake_host_tear_down();
}

static void upload_all(void)
{
    for (unsigned steps = 0; steps < 1000 && uploader_has_work(uploads); steps++) {
        (void)uploader_step(uploads);
        host.now += 20;
    }
}

static char *page(void)
{
    const shown_sources sources = {
        .node = "node \"1\"", .core = core, .uploads = uploads, .queued = queued, .http = http};
    size_t length = 0;
    char *text = metrics_page(&sources, &length);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

/* Returns the value of a series, given by its text up to the value; -1 = it is not on the page. */
static double value_of(const char *text, const char *series)
{
    char line[512];
    (void)snprintf(line, sizeof(line), "\nhotstack_collector_%s ", series);
    const char *at = strstr(text, line);
    return at != NULL ? strtod(at + strlen(line), NULL) : -1;
}

/* Saves the page for tests of its text: metrics_test.py. */
static void save(const char *text)
{
    const char *path = getenv("HOTSTACK_METRICS_PAGE");
    FILE *to = path != NULL ? fopen(path, "we") : NULL;
    if (to == NULL)
        return;
    (void)fputs(text, to);
    (void)fclose(to);
}

#define SHOP "namespace=\"\",workload=\"Shop\",node=\"node \\\"1\\\"\""

/* The metrics that the documentation promises to operators. */
static const char *const promised[] = {
    "jvms_discovered{" SHOP "}",
    "jvms_eligible{" SHOP "}",
    "jvms_active{" SHOP "}",
    "jvms_skipped{" SHOP ",reason=\"not_hotspot\"}",
    "jvms_skipped{" SHOP ",reason=\"external_profiler\"}",
    "attach_failures_total{" SHOP ",reason=\"attach_timeout\"}",
    "profiler_command_failures_total{" SHOP ",reason=\"profiler_error\"}",
    "snapshot_timeouts_total{" SHOP "}",
    "snapshot_failures_total{" SHOP ",reason=\"attach_timeout\"}",
    "parse_failures_total{" SHOP "}",
    "batch_answers_total{outcome=\"accepted\"}",
    "batch_answers_total{outcome=\"duplicate\"}",
    "batch_answers_total{outcome=\"rejected\"}",
    "batch_answers_total{outcome=\"need_stacks\"}",
    "batch_answers_total{outcome=\"retry\"}",
    "upload_failures_total",
    "queue_dropped_total{cause=\"queue_full\"}",
    "queue_dropped_total{cause=\"rejected\"}",
    "queue_oldest_dropped_timestamp_seconds{cause=\"queue_full\"}",
    "last_success_timestamp_seconds",
    "queue_bytes",
    "queue_batches",
    "windows_total{" SHOP "}",
    "window_seconds_total{" SHOP "}",
    "covered_seconds_total{" SHOP "}",
    "raw_recorded_total{type=\"cpu\"}",
    "raw_sent_total{type=\"cpu\"}",
};

START_TEST(every_promised_metric_has_a_value)
{
    static const uint8_t large[100001];
    host.threads_ms = 5000;
    host.jvms[1] = sample_jvm(2);
    host.jvms[1].verdict = REASON_NOT_HOTSPOT;
    host.jvms[2] = sample_jvm(3);
    host.jvms[2].verdict = REASON_EXTERNAL_PROFILER;
    host.jvm_count = 3;
    add_rule("Shop", false, 0);
    host.start_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 15000);
    host.start_reason = REASON_PROFILER_ERROR;
    run_to(NOON + 40000);
    host.start_reason = REASON_NONE;
    run_to(NOON + 110000);
    host.parse_fails = true;
    host.snapshot_reason = REASON_ATTACH_TIMEOUT;
    run_to(NOON + 120000);
    host.parse_fails = false;
    host.snapshot_reason = REASON_NONE;
    run_to(NOON + 150000);
    upload_all();
    ck_assert_int_eq(queue_push(queued, QUEUE_PROFILES, large, sizeof(large), NULL), -1);
    run_to(host.now + 12000);
    char *text = page();
    for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
        ck_assert_msg(value_of(text, promised[i]) > 0, "%s has no value in\n%s", promised[i], text);
    ck_assert(value_of(text, "jvms_discovered{" SHOP "}") == 3);
    ck_assert(value_of(text, "jvms_eligible{" SHOP "}") == 2);
    ck_assert(value_of(text, "jvms_active{" SHOP "}") == 1);
    queue_stats stats = queue_get_stats(queued);
    /* A heartbeat has reported them: the time stays on the page. */
    queue_forget_drops(queued, &stats);
    free(text);
    text = page();
    ck_assert(value_of(text, "queue_oldest_dropped_timestamp_seconds{cause=\"queue_full\"}") > 0);
    save(text);
    free(text);
}
END_TEST

START_TEST(past_the_cap_workloads_are_summed)
{
    static const char *const names[] = {"A", "B", "C"}; /* one more than max_workloads */
    for (uint32_t i = 0; i < 3; i++) {
        host.jvms[i] = sample_jvm(i + 1);
        (void)snprintf(host.jvms[i].main_class, sizeof(host.jvms[i].main_class), "%s", names[i]);
    }
    host.jvm_count = 3;
    run_to(NOON + 10000);
    char *text = page();
    ck_assert(value_of(text, "workload_series") == 2);
    ck_assert(value_of(text, "jvms_without_workload_series") == 1);
    ck_assert(value_of(text, "jvms_discovered{namespace=\"\",workload=\"[other]\",node=\"node "
                             "\\\"1\\\"\"}") == 1);
    free(text);
    /* A workload with a series of its own, or one of the others: both are counted. */
    host.jvm_count = 2;
    host.jvms[0] = host.jvms[2];
    run_to(NOON + 20000);
    text = page();
    ck_assert(value_of(text, "jvms_without_workload_series") == 0);
    ck_assert(value_of(text, "jvms_discovered{namespace=\"\",workload=\"C\",node=\"node "
                             "\\\"1\\\"\"}") == 1);
    free(text);
}
END_TEST

START_TEST(names_that_are_no_text_do_not_break_the_page)
{
    (void)snprintf(host.jvms[0].main_class, sizeof(host.jvms[0].main_class), "a\\b\"c\n\xff");
    run_to(NOON + 10000);
    char *text = page();
    ck_assert(value_of(text, "jvms_discovered{namespace=\"\",workload=\"a\\\\b\\\"c\\n?\","
                             "node=\"node \\\"1\\\"\"}") == 1);
    free(text);
}
END_TEST

TCase *metrics_tests(void)
{
    TCase *tests = tcase_create("metrics");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_promised_metric_has_a_value);
    tcase_add_test(tests, past_the_cap_workloads_are_summed);
    tcase_add_test(tests, names_that_are_no_text_do_not_break_the_page);
    return tests;
}
