/* SPDX-License-Identifier: Apache-2.0 */
/* Tests attachd's core with fake JVMs behind its ports. */
#include "../core/attachd.h"

#include <catalogue/reason.h>
#include <catalogue/state.h>
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "run_suite.h"

/* Two JVMs, the requests to each, and how many operations ran on it at the same time. */
static struct {
    struct fake_jvm {
        bool running;
        bool has_files;
        bool ours;
        atomic_int inside;
        int started, windows, stopped, discarded;
        uint64_t offset;     /* of the last window */
        uint64_t started_ms; /* start of a session that is adopted */
    } jvms[2];
    atomic_bool hold;
    atomic_int overlaps; /* operations that ran on a JVM at the same time as another */
    atomic_int held;
    uint32_t fail_with;
    const char *recording;
    bool too_large;
    int unstoppable;
    uint32_t stop_fails_with; /* for that one */
    atomic_uchar next_id;
    uint64_t now;
    uint64_t skipped_ms; /* added to the monotonic clock */
} world;

static struct fake_jvm *enter(const local_identity *jvm)
{
    struct fake_jvm *one = &world.jvms[jvm->host_pid - 1];
    if (atomic_fetch_add(&one->inside, 1) > 0)
        atomic_fetch_add(&world.overlaps, 1);
    atomic_fetch_add(&world.held, 1);
    while (atomic_load(&world.hold))
        usleep(500);
    return one;
}

static void leave(struct fake_jvm *one)
{
    atomic_fetch_sub(&one->inside, 1);
}

static uint32_t list(void *context, local_jvm **out, size_t *count, char *detail, size_t size)
{
    (void)context;
    (void)detail;
    (void)size;
    *out = calloc(2, sizeof(**out));
    *count = 2;
    for (uint32_t i = 0; i < 2; i++)
        (*out)[i].id.host_pid = i + 1;
    return REASON_NONE;
}

static uint32_t unreaped(void *context)
{
    (void)context;
    return 5;
}

static void start(void *context, const local_request *request, uint32_t deadline_ms,
                  attachd_outcome *out)
{
    (void)context;
    (void)deadline_ms;
    struct fake_jvm *one = enter(&request->jvm);
    out->reason = world.fail_with;
    out->session = one->ours ? SESSION_STATE_ADOPTED : SESSION_STATE_OWNED;
    out->started_ms = one->started_ms;
    one->started_ms = 0;
    one->started++;
    one->running = out->running = world.fail_with == 0;
    (void)snprintf(out->engine, sizeof(out->engine), "ctimer");
    leave(one);
}

static void hand_over(int fd, uint64_t limit, attachd_outcome *out)
{
    out->over_limit = world.too_large && fd >= 0;
    if (out->over_limit) {
        out->reason = REASON_WORKER_FAILED;
        return;
    }
    size_t length = strlen(world.recording);
    ck_assert(fd < 0 || length <= limit);
    if (fd >= 0 && write(fd, world.recording, length) == (ssize_t)length)
        out->bytes = length;
    out->offset = 100;
}

static void window(void *context, const local_request *request, int fd, uint64_t limit,
                   uint32_t deadline_ms, attachd_outcome *out)
{
    (void)context;
    (void)deadline_ms;
    struct fake_jvm *one = enter(&request->jvm);
    one->offset = request->offset;
    one->windows++;
    out->reason = world.fail_with;
    out->running = one->running;
    out->session = SESSION_STATE_OWNED;
    if (out->reason == 0)
        hand_over(fd, limit, out);
    leave(one);
}

static void threads(void *context, const local_request *request, int fd, uint64_t limit,
                    uint32_t deadline_ms, attachd_outcome *out)
{
    (void)context;
    (void)deadline_ms;
    (void)request;
    out->reason = world.fail_with;
    if (out->reason == 0)
        hand_over(fd, limit, out);
}

static void stop(void *context, const local_identity *jvm, uint64_t offset, int fd, uint64_t limit,
                 uint32_t deadline_ms, attachd_outcome *out)
{
    (void)context;
    (void)offset;
    (void)deadline_ms;
    struct fake_jvm *one = enter(jvm);
    one->stopped++;
    one->discarded += fd < 0;
    out->session = SESSION_STATE_NONE;
    if (fd >= 0 && world.fail_with == REASON_PARSE_FAILED) {
        out->reason = world.fail_with;
    } else if (world.unstoppable == (int)jvm->host_pid) {
        out->reason = world.stop_fails_with;
    } else {
        one->running = one->ours = one->has_files = false;
        if (fd >= 0)
            hand_over(fd, limit, out);
    }
    leave(one);
}

static void status(void *context, const local_identity *jvm, uint32_t deadline_ms,
                   attachd_outcome *out)
{
    (void)context;
    (void)deadline_ms;
    struct fake_jvm *one = enter(jvm);
    out->session = one->ours ? SESSION_STATE_OWNED : SESSION_STATE_NONE;
    out->running = one->ours;
    out->has_files = one->has_files;
    leave(one);
}

static long read_file(void *context, int file, uint64_t offset, uint8_t *to, size_t length)
{
    (void)context;
    return pread(file, to, length, (off_t)offset);
}

static void close_file(void *context, int file)
{
    (void)context;
    close(file);
}

static int new_file(void *context)
{
    (void)context;
    return memfd_create("test", MFD_CLOEXEC);
}

static uint64_t now_ms(void *context)
{
    (void)context;
    return world.now;
}

static uint64_t monotonic_ms(void *context)
{
    (void)context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return world.skipped_ms + (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void random_id(void *context, uint8_t id[LOCAL_ID_SIZE])
{
    (void)context;
    memset(id, atomic_fetch_add(&world.next_id, 1) + 1, LOCAL_ID_SIZE);
}

static void log_line(void *context, const char *message)
{
    (void)context;
    (void)message;
}

enum { LEASE_MS = 900000, RESTART_MS = 3600000 };

static const local_finding missing = {"mount", "it lacks something", "give it"};
static attachd *core;

static void set_up(void)
{
    memset((void *)&world, 0, sizeof(world));
    world.recording = "recorded bytes";
    world.now = 1000;
    const attachd_ports ports = {
        .list = list,
        .lacks = &missing,
        .lack_count = 1,
        .unreaped = unreaped,
        .start = start,
        .window = window,
        .stop = stop,
        .status = status,
        .threads = threads,
        .new_file = new_file,
        .read_file = read_file,
        .close_file = close_file,
        .now_ms = now_ms,
        .monotonic_ms = monotonic_ms,
        .random_id = random_id,
        .log = log_line,
    };
    const attachd_limits limits = {.window_bytes = 64,
                                   .spool_bytes = 40,
                                   .windows = 3,
                                   .lease_ms = LEASE_MS,
                                   .restart_ms = RESTART_MS,
                                   .restart_bytes = 14};
    core = attachd_new(&ports, &limits);
    ck_assert_ptr_nonnull(core);
}

static void tear_down(void)
{
    attachd_free(core);
}

static local_answer ask(local_op op, uint32_t pid)
{
    local_request request = {.op = op, .deadline_ms = 20000, .jvm = {.host_pid = pid}};
    local_answer answer = {0};
    attachd_handle(core, &request, &answer);
    return answer;
}

static local_answer read_handle(const local_answer *window_answer, uint64_t offset, bool done)
{
    local_request request = {
        .op = LOCAL_READ, .offset = offset, .length = done ? 0 : 8, .done = done};
    memcpy(request.handle, window_answer->handle, LOCAL_ID_SIZE);
    local_answer answer = {0};
    attachd_handle(core, &request, &answer);
    return answer;
}

START_TEST(a_list_tells_what_is_missing_and_which_workers_hang)
{
    local_answer answer = ask(LOCAL_LIST, 0);
    ck_assert_uint_eq(answer.jvm_count, 2);
    ck_assert_uint_eq(answer.workers_unreaped, 5);
    ck_assert_uint_eq(answer.lack_count, 1);
    ck_assert_str_eq(answer.lacks[0].message, "it lacks something");
    local_answer_clear(&answer);
}
END_TEST

/* Whoever the client is, the profiler never gets an interval below its floor. */
START_TEST(an_interval_below_its_floor_is_refused)
{
    for (int event = 0; event < EVENTS; event++) {
        local_request request = {.op = LOCAL_START, .deadline_ms = 20000, .jvm = {.host_pid = 1}};
        local_answer answer = {0};
        request.events.of[event] = 10;
        attachd_handle(core, &request, &answer);
        ck_assert_uint_eq(answer.reason, REASON_INVALID_SETTING);
        ck_assert_ptr_nonnull(strstr(answer.detail, event_name((event_id)event)));
        ck_assert_ptr_nonnull(strstr(answer.detail, "at least"));
    }
    ck_assert_int_eq(world.jvms[0].started, 0);
}
END_TEST

START_TEST(a_window_is_read_in_pieces_and_freed)
{
    ask(LOCAL_START, 1);
    world.now = 61000;
    local_answer ended = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(ended.reason, 0);
    ck_assert(ended.has_handle);
    ck_assert_uint_eq(ended.size, 14);
    ck_assert_uint_eq(ended.window_start_ms, 1000);
    ck_assert_uint_eq(ended.window_end_ms, 61000);
    local_answer piece = read_handle(&ended, 0, false);
    ck_assert_uint_eq(piece.length, 8);
    ck_assert(memcmp(piece.data, "recorded", 8) == 0);
    local_answer_clear(&piece);
    piece = read_handle(&ended, 8, false);
    ck_assert_uint_eq(piece.length, 6);
    local_answer_clear(&piece);
    piece = read_handle(&ended, 0, true);
    ck_assert_uint_eq(piece.reason, 0);
    ck_assert_uint_eq(attachd_count(core).windows, 0);
    piece = read_handle(&ended, 0, false);
    ck_assert_uint_eq(piece.reason, REASON_INTERNAL);
    local_answer_clear(&piece);
    world.now = 121000; /* the next window begins where this one ended */
    local_answer next = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(next.window_start_ms, 61000);
}
END_TEST

START_TEST(a_window_begins_where_its_reader_says)
{
    local_request request = {
        .op = LOCAL_WINDOW, .deadline_ms = 20000, .jvm = {.host_pid = 1}, .offset = 17};
    local_answer answer = {0};
    ask(LOCAL_START, 1);
    attachd_handle(core, &request, &answer);
    ck_assert_uint_eq(world.jvms[0].offset, 17);
    /* And the next one begins where the profiler's files end. */
    ck_assert_uint_eq(answer.offset, 100);
}
END_TEST

START_TEST(a_failed_window_keeps_the_session_and_its_start)
{
    ask(LOCAL_START, 1);
    world.now = 61000;
    world.fail_with = REASON_ATTACH_TIMEOUT;
    local_answer failed = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(failed.reason, REASON_ATTACH_TIMEOUT);
    ck_assert(!failed.has_handle);
    world.fail_with = 0;
    world.now = 121000;
    local_answer ended = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(ended.window_start_ms, 1000);
    ck_assert_uint_eq(attachd_count(core).targets, 1);
}
END_TEST

START_TEST(an_exited_process_is_forgotten)
{
    ask(LOCAL_START, 1);
    world.fail_with = REASON_PROCESS_EXITED;
    ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(attachd_count(core).targets, 0);
}
END_TEST

START_TEST(the_oldest_windows_make_room)
{
    ask(LOCAL_START, 1);
    local_answer answers[3];
    for (int i = 0; i < 3; i++)
        answers[i] = ask(LOCAL_WINDOW, 1); /* 14 bytes each; the limit is 40 */
    attachd_counts counts = attachd_count(core);
    ck_assert_uint_eq(counts.windows, 2);
    ck_assert_uint_eq(counts.windows_dropped, 1);
    local_answer gone = read_handle(&answers[0], 0, false);
    ck_assert_uint_eq(gone.reason, REASON_INTERNAL);
    local_answer_clear(&gone);
    local_answer there = read_handle(&answers[2], 0, false);
    ck_assert_uint_eq(there.length, 8);
    local_answer_clear(&there);
    there = read_handle(&answers[2], 0, true); /* not the oldest one */
    there = read_handle(&answers[1], 0, true);
    ck_assert_uint_eq(attachd_count(core).window_bytes, 0);
}
END_TEST

START_TEST(a_window_past_its_cap_ends_the_session_with_the_reason)
{
    ask(LOCAL_START, 1);
    world.too_large = true;
    local_answer ended = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(ended.reason, REASON_BUDGET_TRIPPED);
    ck_assert_ptr_nonnull(strstr(ended.detail, "limits.window_bytes"));
    ck_assert_int_eq(world.jvms[0].stopped, 1);
    ck_assert_uint_eq(attachd_count(core).targets, 0);
}
END_TEST

START_TEST(a_damaged_recording_ends_the_session)
{
    static const local_op ops[] = {LOCAL_WINDOW, LOCAL_STOP};
    ask(LOCAL_START, 1);
    world.fail_with = REASON_PARSE_FAILED;
    local_answer ended = ask(ops[_i], 1);
    ck_assert_uint_eq(ended.reason, REASON_PARSE_FAILED);
    ck_assert_uint_eq(ended.session, SESSION_STATE_NONE);
    ck_assert_int_eq(world.jvms[0].discarded, 1);
    ck_assert_uint_eq(attachd_count(core).targets, 0);
}
END_TEST

static void *window_aside(void *argument)
{
    local_answer answer = ask(LOCAL_WINDOW, *(uint32_t *)argument);
    local_answer_clear(&answer);
    return NULL;
}

START_TEST(one_operation_a_target_and_all_targets_side_by_side)
{
    ask(LOCAL_START, 1);
    ask(LOCAL_START, 2);
    atomic_store(&world.held, 0);
    atomic_store(&world.hold, true);
    uint32_t pids[] = {1, 1, 2, 2};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, window_aside, &pids[i]), 0);
    while (atomic_load(&world.held) < 2) /* one on each JVM */
        usleep(500);
    ck_assert_int_eq(atomic_load(&world.jvms[0].inside), 1);
    ck_assert_int_eq(atomic_load(&world.jvms[1].inside), 1);
    atomic_store(&world.hold, false);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&world.overlaps), 0);
    ck_assert_int_eq(world.jvms[0].windows, 2);
}
END_TEST

START_TEST(a_request_waits_for_its_deadline_only)
{
    ask(LOCAL_START, 1);
    atomic_store(&world.held, 0);
    atomic_store(&world.hold, true);
    uint32_t pid = 1;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, window_aside, &pid), 0);
    while (atomic_load(&world.held) == 0)
        usleep(500);
    local_request request = {.op = LOCAL_SESSION, .deadline_ms = 20, .jvm = {.host_pid = 1}};
    local_answer answer = {0};
    attachd_handle(core, &request, &answer);
    ck_assert_uint_eq(answer.reason, REASON_ATTACH_TIMEOUT);
    atomic_store(&world.hold, false);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(what_an_earlier_run_left_is_swept_unless_claimed)
{
    world.jvms[0].ours = true;
    world.jvms[1].has_files = true;
    local_answer adopted = ask(LOCAL_START, 1);
    ck_assert_uint_eq(adopted.session, SESSION_STATE_ADOPTED);
    ck_assert_uint_eq(attachd_sweep(core), 1);
    ck_assert_int_eq(world.jvms[0].stopped, 0);
    ck_assert_int_eq(world.jvms[1].stopped, 1);
}
END_TEST

static const struct {
    uint32_t reason;
    unsigned failures;
} at_the_end[] = {
    {REASON_ATTACH_TIMEOUT, 1},
    {REASON_PROCESS_EXITED, 0},
    {REASON_IDENTITY_CHANGED, 0}, /* the process has ended, and its pid is in use again */
};

START_TEST(at_the_end_every_session_is_stopped_and_failures_are_counted)
{
    ask(LOCAL_START, 1);
    ask(LOCAL_START, 2);
    world.unstoppable = 2;
    world.stop_fails_with = at_the_end[_i].reason;
    ck_assert_uint_eq(attachd_stop_sessions(core), at_the_end[_i].failures);
    ck_assert_int_eq(world.jvms[0].stopped, 1);
    ck_assert_int_eq(world.jvms[1].stopped, 1);
    ck_assert(!world.jvms[0].running);
}
END_TEST

START_TEST(a_session_that_nobody_asks_about_is_stopped)
{
    ask(LOCAL_START, 1);
    ask(LOCAL_START, 2);
    world.skipped_ms = LEASE_MS - 60000;
    ask(LOCAL_WINDOW, 2); /* its owner still asks */
    ck_assert_uint_eq(attachd_expire(core), 0);
    world.skipped_ms = LEASE_MS;
    ck_assert_uint_eq(attachd_expire(core), 1);
    ck_assert_int_eq(world.jvms[0].stopped, 1);
    ck_assert_int_eq(world.jvms[1].stopped, 0);
    ck_assert_uint_eq(attachd_count(core).targets, 1);
    /* Its owner comes back: the time in between is reported. */
    world.now = 901000;
    local_answer again = ask(LOCAL_START, 1);
    ck_assert_uint_eq(again.reason, 0);
    ck_assert_int_eq(world.jvms[0].started, 2);
}
END_TEST

START_TEST(one_that_cannot_be_stopped_is_not_tried_for_ever)
{
    ask(LOCAL_START, 1);
    world.unstoppable = 1;
    world.stop_fails_with = REASON_ATTACH_TIMEOUT;
    world.skipped_ms = LEASE_MS;
    ck_assert_uint_eq(attachd_expire(core), 0);
    ck_assert_uint_eq(attachd_expire(core), 0);
    ck_assert_int_eq(world.jvms[0].stopped, 1);
}
END_TEST

START_TEST(an_old_session_begins_anew_at_the_end_of_a_window)
{
    ask(LOCAL_START, 1);
    world.now = 61000;
    ask(LOCAL_WINDOW, 1);
    ck_assert_int_eq(world.jvms[0].windows, 1);
    world.now = 1000 + RESTART_MS;
    local_answer last = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(last.reason, 0);
    ck_assert(last.has_handle); /* the data of the old session */
    ck_assert_uint_eq(last.window_start_ms, 61000);
    ck_assert_uint_eq(last.session, SESSION_STATE_OWNED);
    ck_assert_uint_eq(last.session_ms, 1000 + RESTART_MS); /* whose recording begins at 0 */
    ck_assert_uint_eq(last.offset, 0);
    ck_assert_int_eq(world.jvms[0].windows, 1);
    ck_assert_int_eq(world.jvms[0].stopped, 1);
    ck_assert_int_eq(world.jvms[0].started, 2);
    world.now += 60000;
    local_answer next = ask(LOCAL_WINDOW, 1);
    ck_assert_int_eq(world.jvms[0].windows, 2);
    ck_assert_uint_eq(next.window_start_ms, 1000 + RESTART_MS);
}
END_TEST

START_TEST(an_old_session_of_an_earlier_run_begins_anew_once_its_owner_claims_it)
{
    world.jvms[0].running = world.jvms[0].ours = true;
    world.jvms[0].started_ms = 1000;
    world.now = 1000 + RESTART_MS;
    local_answer unclaimed = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(unclaimed.session, SESSION_STATE_ADOPTED);
    ck_assert_int_eq(world.jvms[0].stopped, 0);
    ask(LOCAL_START, 1);
    world.now += 60000;
    local_answer last = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(last.session, SESSION_STATE_OWNED);
    ck_assert_int_eq(world.jvms[0].stopped, 1);
    ck_assert_int_eq(world.jvms[0].started, 2);
}
END_TEST

/* async-profiler records live objects when it stops, and only then. */
START_TEST(live_objects_begin_a_session_anew_with_each_window)
{
    local_request request = {.op = LOCAL_START,
                             .deadline_ms = 20000,
                             .jvm = {.host_pid = 1},
                             .events = {{[EVENT_LIVE] = 524288}}};
    local_answer started = {0};
    attachd_handle(core, &request, &started);
    for (int window = 1; window <= 2; window++) {
        world.now = 1000 + (uint64_t)window * 60000;
        local_answer ended = ask(LOCAL_WINDOW, 1);
        ck_assert_uint_eq(ended.reason, 0);
        ck_assert(ended.has_handle);
        ck_assert_int_eq(world.jvms[0].windows, 0);
        ck_assert_int_eq(world.jvms[0].stopped, window);
        ck_assert_int_eq(world.jvms[0].started, window + 1);
    }
}
END_TEST

START_TEST(large_windows_restart_a_session_that_is_not_young)
{
    ask(LOCAL_START, 1);
    for (int minute = 1; minute <= 10; minute++) {
        world.now = 1000 + (uint64_t)minute * 60000;
        ask(LOCAL_WINDOW, 1);
        ck_assert_int_eq(world.jvms[0].started, minute < 10 ? 1 : 2);
    }
}
END_TEST

START_TEST(a_restart_that_fails_leaves_the_window)
{
    ask(LOCAL_START, 1);
    world.now = 1000 + RESTART_MS;
    world.fail_with = REASON_ATTACH_TIMEOUT; /* the fake stop ignores it, the start does not */
    local_answer last = ask(LOCAL_WINDOW, 1);
    ck_assert_uint_eq(last.reason, 0);
    ck_assert(last.has_handle);
    ck_assert_uint_eq(last.session, SESSION_STATE_NONE);
    ck_assert_uint_eq(attachd_count(core).targets, 0);
}
END_TEST

static void *take_window(void *argument)
{
    (void)argument;
    ask(LOCAL_WINDOW, 1);
    return NULL;
}

START_TEST(a_snapshot_does_not_wait_for_the_session)
{
    pthread_t window_thread;
    ask(LOCAL_START, 1);
    atomic_store(&world.held, 0);
    atomic_store(&world.hold, true);
    ck_assert_int_eq(pthread_create(&window_thread, NULL, take_window, NULL), 0);
    while (atomic_load(&world.held) == 0)
        usleep(500);
    local_answer snapshot = ask(LOCAL_THREADS, 1);
    ck_assert_uint_eq(snapshot.reason, 0);
    ck_assert(snapshot.has_handle);
    ck_assert_uint_eq(snapshot.size, strlen(world.recording));
    atomic_store(&world.hold, false);
    pthread_join(window_thread, NULL);
    world.fail_with = REASON_ATTACH_TIMEOUT;
    local_answer failed = ask(LOCAL_THREADS, 1);
    ck_assert_uint_eq(failed.reason, REASON_ATTACH_TIMEOUT);
    ck_assert(!failed.has_handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attachd");
    TCase *tests = tcase_create("core");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_list_tells_what_is_missing_and_which_workers_hang);
    tcase_add_test(tests, an_interval_below_its_floor_is_refused);
    tcase_add_test(tests, a_window_is_read_in_pieces_and_freed);
    tcase_add_test(tests, a_failed_window_keeps_the_session_and_its_start);
    tcase_add_test(tests, a_window_begins_where_its_reader_says);
    tcase_add_test(tests, an_exited_process_is_forgotten);
    tcase_add_test(tests, the_oldest_windows_make_room);
    tcase_add_test(tests, a_window_past_its_cap_ends_the_session_with_the_reason);
    tcase_add_test(tests, one_operation_a_target_and_all_targets_side_by_side);
    tcase_add_loop_test(tests, a_damaged_recording_ends_the_session, 0, 2);
    tcase_add_test(tests, a_request_waits_for_its_deadline_only);
    tcase_add_test(tests, what_an_earlier_run_left_is_swept_unless_claimed);
    tcase_add_loop_test(tests, at_the_end_every_session_is_stopped_and_failures_are_counted, 0,
                        sizeof(at_the_end) / sizeof(at_the_end[0]));
    tcase_add_test(tests, a_session_that_nobody_asks_about_is_stopped);
    tcase_add_test(tests, one_that_cannot_be_stopped_is_not_tried_for_ever);
    tcase_add_test(tests, an_old_session_begins_anew_at_the_end_of_a_window);
    tcase_add_test(tests, an_old_session_of_an_earlier_run_begins_anew_once_its_owner_claims_it);
    tcase_add_test(tests, live_objects_begin_a_session_anew_with_each_window);
    tcase_add_test(tests, large_windows_restart_a_session_that_is_not_young);
    tcase_add_test(tests, a_restart_that_fails_leaves_the_window);
    tcase_add_test(tests, a_snapshot_does_not_wait_for_the_session);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
