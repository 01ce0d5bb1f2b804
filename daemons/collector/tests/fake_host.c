/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"

#include "../adapters/queue/file_queue.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

fake_host host;

queue *queued;
rule_set *rules;
collector *core;

static const char *queue_directory;

static uint64_t now_ms(void *context)
{
    (void)context;
    return host.now;
}

static uint64_t steady_ms(void *context)
{
    (void)context;
    return (uint64_t)((int64_t)host.now - host.set_ms);
}

/* Each call advances the CPU time by 1 ms. */
static uint64_t thread_cpu_ns(void *context)
{
    (void)context;
    return host.cpu_ns += 1000000;
}

static uint64_t random_number(void *context)
{
    static uint64_t state = 7;
    (void)context;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 16;
}

static void log_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static bool submit(void *context, void (*job)(void *argument), void *argument)
{
    (void)context;
    if (host.threadless)
        return false;
    job(argument);
    return true;
}

void nothing(void *context)
{
    (void)context;
}

static void answer_window(const local_request *request, local_answer *answer)
{
    for (size_t i = 0; i < host.id_count; i++)
        ck_assert_msg(host.ids[i] != request->id[0] || host.lost_answers == 0, "id used twice");
    host.windows += request->op == LOCAL_WINDOW;
    host.stops += request->op == LOCAL_STOP;
    answer->reason = host.window_reason;
    answer->session = host.unclaimed ? SESSION_STATE_ADOPTED : SESSION_STATE_OWNED;
    answer->has_handle = host.window_reason == 0;
    answer->size = 5;
    answer->dropped_events = host.dropped;
    answer->session_ms = host.session_ms;
    answer->offset = request->offset + answer->size;
    host.last_window = *request;
    host.offsets[host.offset_count++] = request->offset;
}

static int call(void *context, const local_request *request, local_answer *answer, char *message,
                size_t size)
{
    (void)context;
    (void)snprintf(message, size, "nobody listens");
    if (host.unreachable)
        return CALL_UNREACHABLE;
    switch (request->op) {
    case LOCAL_LIST:
        answer->jvms = calloc(host.jvm_count + 1, sizeof(*answer->jvms));
        memcpy(answer->jvms, host.jvms, host.jvm_count * sizeof(*answer->jvms));
        answer->jvm_count = host.jvm_count;
        answer->workers_unreaped = 2;
        answer->lacks[0] = (local_finding){"hidepid", "others are hidden", "show them"};
        answer->lacks[1] = (local_finding){"mount", "no procfs", "mount it"};
        answer->lack_count = 2;
        break;
    case LOCAL_START:
        host.starts++;
        host.unclaimed = false;
        host.last_start = *request;
        answer->absent = host.absent;
        (void)snprintf(answer->absent_reason, sizeof(answer->absent_reason), "%s",
                       host.absent != 0 ? "alloc: no such thing" : "");
        answer->reason = host.start_reason;
        answer->session = host.session;
        answer->session_ms = host.session_ms;
        answer->offset = host.start_offset;
        (void)snprintf(answer->detail, sizeof(answer->detail), "%s",
                       host.start_reason ? "why" : "");
        break;
    case LOCAL_WINDOW:
    case LOCAL_STOP:
        if (host.lost_answers > 0) {
            host.lost_answers--;
            host.ids[host.id_count++] = request->id[0];
            return CALL_TIMED_OUT;
        }
        answer_window(request, answer);
        break;
    case LOCAL_READ:
        host.reads_done += request->done;
        if (host.lost_windows > 0 && !request->done) {
            host.lost_windows--;
            answer->reason = REASON_INTERNAL;
            break;
        }
        answer->data = calloc(1, 5);
        answer->length = request->done ? 0 : 5;
        break;
    case LOCAL_SESSION:
    case LOCAL_STATUS:
        break;
    case LOCAL_THREADS:
        host.snapshots++;
        host.lease_ms = request->lease_ms;
        host.contention = request->contention;
        answer->reason = host.snapshot_reason;
        answer->has_handle = host.snapshot_reason == 0;
        answer->size = 5;
        (void)snprintf(answer->detail, sizeof(answer->detail), "%s",
                       host.snapshot_reason ? "why" : "");
        break;
    }
    return CALL_DONE;
}

static int new_file(void *context)
{
    (void)context;
    return memfd_create("test", MFD_CLOEXEC);
}

static int append(void *context, int file, const uint8_t *bytes, size_t length)
{
    (void)context;
    return write(file, bytes, length) == (ssize_t)length ? 0 : -1;
}

static void close_file(void *context, int file)
{
    (void)context;
    close(file);
}

static uint64_t recording_start_ms(void *context, int fd)
{
    (void)context;
    (void)fd;
    return host.recording_start;
}

static int parse(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size)
{
    (void)context;
    (void)fd;
    ck_assert_uint_eq(size, 5);
    ck_assert_uint_gt(events->of[EVENT_CPU], 0);
    host.parsed = *events;
    if (*memory == NULL)
        *memory = malloc(1);
    host.spans[host.span_count++] = *span;
    (void)snprintf(message, message_size, "byte 7: no chunk");
    if (host.parse_fails)
        return -1;
    sample_profile(out, 2, 3);
    out->covered_ms = host.covered;
    out->excess_events = host.excess;
    return 0;
}

static void forget(void *context, void *memory)
{
    (void)context;
    host.forgotten++;
    free(memory);
}

static int read_snapshot(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size)
{
    (void)context;
    (void)fd;
    (void)message;
    (void)message_size;
    ck_assert_uint_eq(size, 5);
    uint32_t interval_ms = *memory == NULL ? 0 : 4000;
    if (*memory == NULL)
        *memory = malloc(1);
    *out = (thread_snapshot){.meta = {.taken_ms = host.now, .interval_ms = interval_ms}};
    return 0;
}

static void forget_snapshot(void *context, void *memory)
{
    (void)context;
    host.snapshots_forgotten++;
    free(memory);
}

static void user_name(void *context, uint32_t uid, char *out, size_t size)
{
    (void)context;
    (void)snprintf(out, size, "user%u", uid);
}

static bool decide(void *context, const local_jvm *jvm, target_labels *labels, policy_decision *out)
{
    (void)context;
    (void)jvm;
    *labels = (target_labels){.workload = "web", .pod = "web-1"};
    *out = host.decision;
    return host.in_pod;
}

static int encode(void *context, const batch *one, uint8_t **out, size_t *length)
{
    (void)context;
    for (size_t i = 0; i < one->window_count; i++)
        host.queued_raw += one->windows[i].part.total.raw_amount;
    for (size_t i = 0; i < one->window_count; i++)
        host.queued_lost += one->windows[i].part.lost_events;
    for (size_t i = 0; i < one->window_count; i++) {
        if (one->windows[i].reason != 0)
            host.lost[host.lost_count++] = one->windows[i];
    }
    host.queued_windows += one->window_count;
    for (size_t i = 0; i < one->snapshot_count; i++)
        host.queued_snapshots[host.queued_snapshot_count++] = one->snapshots[i];
    host.days[host.batches++] = one->day;
    *out = calloc(1, 1);
    *length = 1;
    return 0;
}

static void status_changed(void *context)
{
    (void)context;
    host.status_changes++;
}

void add_rule(const char *main_class, bool off, uint64_t delay_ms)
{
    const rule_text text = {.main_class = main_class,
                            .command_line = "",
                            .user = "",
                            .namespace_name = "",
                            .workload = "",
                            .events = "cpu=10ms,alloc=2m",
                            .off = off,
                            .startup_delay_ms = delay_ms,
                            .threads_ms = host.threads_ms};
    char message[256];
    ck_assert_int_eq(rule_set_add(rules, &text, message, sizeof(message)), 0);
}

static void make_collector(void)
{
    const collector_ports ports = {
        .now_ms = now_ms,
        .steady_ms = steady_ms,
        .thread_cpu_ns = thread_cpu_ns,
        .random = random_number,
        .log = log_line,
        .submit = submit,
        .wake = nothing,
        .call = call,
        .new_file = new_file,
        .append = append,
        .close_file = close_file,
        .recording_start_ms = recording_start_ms,
        .parse = parse,
        .forget = forget,
        .read_snapshot = read_snapshot,
        .forget_snapshot = forget_snapshot,
        .user_name = user_name,
        .decide = decide,
        .encode = encode,
        .queued = nothing,
        .status_changed = status_changed,
    };
    const collector_options options = {.window_ms = WINDOW,
                                       .discovery_ms = 5000,
                                       .flush_ms = 1000,
                                       .cooldown_min_ms = 10000,
                                       .cooldown_max_ms = 80000,
                                       .call_ms = 1000,
                                       .max_targets = 2,
                                       .max_lanes = 8,
                                       .max_workloads = 2,
                                       .rate_limit = 500,
                                       .max_rows_per_part = 1000,
                                       .limits = {.rows = 100000}};
    core = collector_new(&ports, &options, rules, queued);
}

static void open_queue(void)
{
    char message[256] = "";
    ck_assert_int_eq(
        file_queue_open(&queued, queue_directory, 100000, 100, message, sizeof(message)), 0);
}

void fake_host_set_up(void)
{
    memset(&host, 0, sizeof(host));
    host.now = NOON + 3000;
    host.session = SESSION_STATE_OWNED;
    host.session_ms = NOON;
    host.covered = WINDOW;
    host.jvms[0] = sample_jvm(1);
    host.jvm_count = 1;
    rules = rule_set_new();
    queue_directory = make_directory();
    open_queue();
    make_collector();
}

void fake_host_begin_anew(void)
{
    collector_free(core);
    file_queue_close(queued);
    open_queue();
    make_collector();
}

uint64_t fake_host_counted(size_t offset, size_t size)
{
    size_t count = 0;
    uint64_t sum = 0;
    workload_stats *all = collector_get_workloads(core, &count);
    ck_assert_ptr_nonnull(all);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *numbers = (const uint64_t *)((const char *)&all[i] + offset);
        for (size_t k = 0; k < size / sizeof(*numbers); k++)
            sum += numbers[k];
    }
    free(all);
    return sum;
}

void fake_host_tear_down(void)
{
    collector_free(core);
    file_queue_close(queued);
    rule_set_free(rules);
    remove_directory();
}

void run_to(uint64_t until)
{
    unsigned steps = 0;
    for (;;) {
        uint64_t next = collector_tick(core);
        ck_assert_uint_lt(++steps, 100000);
        if (next <= host.now)
            continue;
        if (next > until)
            break;
        host.now = next;
    }
    host.now = until;
}

target_status status_of(uint32_t pid)
{
    status_report report;
    target_status found = {0};
    collector_snapshot(core, &report);
    for (size_t i = 0; i < report.count; i++) {
        if (report.targets[i].jvm.id.host_pid == pid)
            found = report.targets[i];
    }
    status_report_clear(&report);
    return found;
}
