/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests thread snapshots without a JVM: the agent's encoder and selection, the decoder, the join.
 */
#include "run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/text_impl.h"
#include "lease.h"
#include "out.h"
#include "request.h"
#include "snapshot/pause.h"
#include "snapshot/select.h"
#include "threads/threads_native_impl.h"
#include "threads/threads_wire_impl.h"
#include "utf16.h"
#include <attach/threads.h>

/* ---- a snapshot to read ---- */

static void add_thread(wire_out *o, uint64_t tid, const char *name, int64_t cpu_ns, uint32_t lock,
                       uint64_t owner)
{
    out_number(o, COL_THREAD_JAVA_TID, tid);
    out_number(o, COL_THREAD_NAME, out_string(o, name, strlen(name)));
    out_byte(o, COL_THREAD_STATE, ATTACH_THREAD_BLOCKED);
    out_byte(o, COL_THREAD_FLAGS, THREADS_DAEMON | THREADS_CARRIER);
    out_byte(o, COL_THREAD_WHY, THREADS_WHY_BUSY);
    out_known(o, COL_THREAD_CPU, cpu_ns);
    out_known(o, COL_THREAD_USER, -1);
    out_known(o, COL_THREAD_ALLOCATED, 0);
    out_number(o, COL_THREAD_BLOCKED_COUNT, 7);
    out_number(o, COL_THREAD_WAITED_COUNT, UINT64_MAX);
    out_known(o, COL_THREAD_BLOCKED_MS, -1);
    out_known(o, COL_THREAD_WAITED_MS, 300);
    out_number(o, COL_THREAD_LOCK, lock);
    out_number(o, COL_THREAD_OWNER, owner);
    out_number(o, COL_THREAD_OWNER_NAME, owner == 0 ? 0 : out_string(o, "owner", 5));
    out_number(o, COL_THREAD_CARRIES, tid == 5 ? 77 : 0);
    out_number(o, COL_THREAD_CARRIES_NAME, tid == 5 ? out_string(o, "vt", 2) : 0);
}

static uint32_t string_of(wire_out *o, const char *text)
{
    return out_string(o, text, strlen(text));
}

/* Encodes a snapshot: threads 1, 2 and 3 wait for each other in a ring, 4 for 1, 5 for none. */
static uint8_t *ring(size_t *n)
{
    wire_out o;
    out_init(&o, 1 << 20);
    out_lock lock = {string_of(&o, "java.lang.Object"), 0xCAFE};
    uint32_t index = out_add_lock(&o, &lock);
    ck_assert_uint_eq(out_add_lock(&o, &lock), index);
    add_thread(&o, 1, "one", 100, index, 2);
    add_thread(&o, 2, "two", 200, index, 3);
    add_thread(&o, 3, "three", 300, index, 1);
    add_thread(&o, 4, "four", -1, index, 1);
    add_thread(&o, 5, "five", 500, 0, 0);
    out_frame frame = {string_of(&o, "a.B"), string_of(&o, "run"), string_of(&o, "B.java"), 42, 0};
    uint32_t run = out_add_frame(&o, &frame);
    ck_assert_uint_eq(out_add_frame(&o, &frame), run);
    frame.native = 1;
    out_number(&o, COL_STACK_FRAME, out_add_frame(&o, &frame));
    out_number(&o, COL_STACK_FRAME, run);
    out_number(&o, COL_STACK_THREAD, 1);
    out_number(&o, COL_STACK_DEPTH, 2);
    out_number(&o, COL_HELD_THREAD, 1);
    out_byte(&o, COL_HELD_KIND, THREADS_HELD_MONITOR);
    out_number(&o, COL_HELD_DEPTH, 1);
    out_number(&o, COL_HELD_LOCK, index - 1);
    for (uint64_t tid = 1; tid <= 3; tid++)
        out_number(&o, COL_DEADLOCKED, tid);
    o.meta = (out_meta){.wall_ms = 1700000000000,
                        .threads_total = 9,
                        .cut = THREADS_CUT_THREADS,
                        .offers = THREADS_OFFER_CPU};
    uint8_t *bytes = out_finish(&o, n);
    ck_assert_ptr_nonnull(bytes);
    out_free(&o);
    return bytes;
}

static attach_threads *decoded(const uint8_t *bytes, size_t n)
{
    attach_threads *t = NULL;
    attach_error err = {0};
    ck_assert_msg(attach_threads_decode(&t, bytes, n, &err) == ATTACH_OK, "%s", err.message);
    return t;
}

START_TEST(what_is_written_is_read)
{
    size_t n = 0;
    uint8_t *bytes = ring(&n);
    attach_threads *t = decoded(bytes, n);
    const attach_threads_meta *meta = attach_threads_meta_of(t);
    ck_assert_uint_eq(meta->wall_ms, 1700000000000);
    ck_assert_uint_eq(meta->threads_total, 9);
    ck_assert_uint_eq(meta->cut, ATTACH_CUT_THREADS);
    ck_assert(meta->cpu_time && !meta->allocated);
    ck_assert_uint_eq(attach_threads_count(t), 5);
    const attach_thread *two = attach_threads_find(t, 2);
    ck_assert_str_eq(two->name, "two");
    ck_assert_int_eq(two->state, ATTACH_THREAD_BLOCKED);
    ck_assert_uint_eq(two->flags,
                      ATTACH_THREAD_DAEMON | ATTACH_THREAD_CARRIER | ATTACH_THREAD_DEADLOCKED);
    ck_assert_uint_eq(two->cpu_ns, 200);
    ck_assert_uint_eq(two->user_ns, ATTACH_THREADS_UNKNOWN);
    ck_assert_uint_eq(two->allocated_bytes, 0);
    ck_assert_uint_eq(two->waited_count, UINT64_MAX);
    ck_assert_uint_eq(two->waited_ms, 300);
    ck_assert_str_eq(two->lock->class_name, "java.lang.Object");
    ck_assert_uint_eq(two->lock->identity_hash, 0xCAFE);
    ck_assert_ptr_eq(two->owner, attach_threads_find(t, 3));
    ck_assert_uint_eq(two->n_frames, 2);
    ck_assert(attach_threads_frame(t, two->frames[0])->native);
    const attach_thread_frame *root = attach_threads_frame(t, two->frames[1]);
    ck_assert_str_eq(root->class_name, "a.B");
    ck_assert_str_eq(root->method, "run");
    ck_assert_str_eq(root->file, "B.java");
    ck_assert_uint_eq(root->line, 42);
    ck_assert_uint_eq(two->n_held, 1);
    ck_assert_uint_eq(two->held[0].depth, 1);
    ck_assert(!two->held[0].synchronizer);
    ck_assert(!attach_threads_find(t, 1)->has_stack);
    ck_assert_str_eq(two->owner_name, "owner");
    ck_assert_uint_eq(two->carries_tid, 0);
    const attach_thread *five = attach_threads_find(t, 5);
    ck_assert_ptr_null(five->lock);
    ck_assert_str_eq(five->owner_name, "");
    ck_assert_uint_eq(five->carries_tid, 77);
    ck_assert_str_eq(five->carries_name, "vt");
    ck_assert_ptr_null(attach_threads_find(t, 6));
    ck_assert_ptr_null(attach_threads_at(t, 5));
    ck_assert_ptr_null(attach_threads_frame(t, 2));
    attach_threads_free(t);
    free(bytes);
}
END_TEST

START_TEST(cycle_without_its_followers)
{
    size_t n = 0;
    uint8_t *bytes = ring(&n);
    attach_threads *t = decoded(bytes, n);
    ck_assert_uint_eq(attach_threads_deadlock_count(t), 1);
    const attach_deadlock *cycle = attach_threads_deadlock_at(t, 0);
    ck_assert_uint_eq(cycle->n, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_ptr_eq(cycle->threads[i]->owner, cycle->threads[(i + 1) % 3]);
    ck_assert(!(attach_threads_find(t, 4)->flags & ATTACH_THREAD_DEADLOCKED));
    ck_assert_ptr_null(attach_threads_deadlock_at(t, 1));
    attach_threads_free(t);
    free(bytes);
}
END_TEST

/* A snapshot that is cut anywhere is refused, or has a whole number of messages and is still
 * consistent. */
START_TEST(cut_anywhere)
{
    size_t n = 0;
    uint8_t *bytes = ring(&n);
    int refused = 0;
    for (size_t cut = 0; cut < n; cut++) {
        attach_threads *t = NULL;
        uint8_t *exact = malloc(cut + 1);
        ck_assert_ptr_nonnull(exact);
        memcpy(exact, bytes, cut);
        int rc = attach_threads_decode(&t, exact, cut, NULL);
        ck_assert(rc == ATTACH_OK || rc == ATTACH_ERR_FORMAT);
        refused += rc != ATTACH_OK;
        attach_threads_free(t);
        free(exact);
    }
    ck_assert_int_gt(refused, (int)n - 12);
    free(bytes);
}
END_TEST

/* Sets every byte to each of some values: no crash, no endless cycle, no read beyond the end. */
START_TEST(any_byte_changed)
{
    static const uint8_t values[] = {0, 1, 2, 0x7F, 0x80, 0xFF};
    size_t n = 0;
    uint8_t *bytes = ring(&n);
    for (size_t at = 0; at < n; at++) {
        uint8_t before = bytes[at];
        for (size_t i = 0; i < sizeof(values); i++) {
            attach_threads *t = NULL;
            bytes[at] = values[i];
            if (attach_threads_decode(&t, bytes, n, NULL) == ATTACH_OK)
                for (size_t j = 0; j < attach_threads_count(t); j++)
                    ck_assert_ptr_nonnull(attach_threads_at(t, j)->name);
            attach_threads_free(t);
        }
        bytes[at] = before;
    }
    free(bytes);
}
END_TEST

START_TEST(names_cannot_drive_a_terminal)
{
    size_t n = 0;
    wire_out o;
    out_init(&o, 1 << 20);
    add_thread(&o, 1, "a\x1b[2Jb\xff", 1, 0, 0);
    uint8_t *bytes = out_finish(&o, &n);
    attach_threads *t = decoded(bytes, n);
    ck_assert_str_eq(attach_threads_at(t, 0)->name, "a?[2Jb?");
    attach_threads_free(t);
    free(bytes);
    out_free(&o);
}
END_TEST

START_TEST(cpu_since)
{
    size_t n = 0;
    uint8_t *bytes = ring(&n);
    attach_threads *t = decoded(bytes, n);
    attach_thread now = *attach_threads_find(t, 2);
    now.cpu_ns = 1200;
    ck_assert_uint_eq(attach_thread_cpu_since(&now, t), 1000);
    now.cpu_ns = 100; /* another thread with that id */
    ck_assert_uint_eq(attach_thread_cpu_since(&now, t), 0);
    now.java_tid = 77;
    ck_assert_uint_eq(attach_thread_cpu_since(&now, t), 100);
    now.java_tid = 4; /* unknown at that time */
    ck_assert_uint_eq(attach_thread_cpu_since(&now, t), ATTACH_THREADS_UNKNOWN);
    attach_threads_free(t);
    free(bytes);
}
END_TEST

/* ---- the agent's parts ---- */

START_TEST(limit_is_told)
{
    wire_out o;
    out_init(&o, 100);
    for (int i = 0; i < 5; i++)
        add_thread(&o, (uint64_t)i + 1, "a thread with a name", 1, 0, 0);
    ck_assert(out_is_full(&o));
    out_free(&o);
}
END_TEST

START_TEST(many_strings_keep_their_places)
{
    wire_out o;
    size_t n = 0;
    char text[16];
    out_init(&o, 1 << 20);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 1; i <= 3000; i++) {
            (void)snprintf(text, sizeof(text), "s%u", i);
            ck_assert_uint_eq(string_of(&o, text), i);
        }
    uint8_t *bytes = out_finish(&o, &n);
    attach_threads_free(decoded(bytes, n));
    free(bytes);
    out_free(&o);
}
END_TEST

START_TEST(utf16_becomes_utf8)
{
    static const uint16_t units[] = {'a', 0xE9, 0x20AC, 0xD83D, 0xDE00, 0xD800, 'b', 0xDC00, 0};
    char text[TEXT_UTF8_MAX(sizeof(units) / sizeof(units[0]))];
    size_t n = text_utf8(text, units, sizeof(units) / sizeof(units[0]));
    static const char wanted[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD"
                                 "b\xEF\xBF\xBD\xEF\xBF\xBD";
    ck_assert_uint_eq(n, sizeof(wanted) - 1);
    ck_assert_mem_eq(text, wanted, n);
}
END_TEST

static size_t chosen(const candidate *list, size_t n, uint8_t why)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += (list[i].why & why) != 0;
    return found;
}

START_TEST(choice_keeps_room_for_every_kind)
{
    candidate list[1000];
    int64_t cursor = 0;
    for (int i = 0; i < 1000; i++) /* all are busy, half are blocked by the first */
        list[i] = (candidate){
            .tid = i + 1, .cpu_delta = i, .owner = i % 2 == 1 ? 1 : 0, .blocked = i % 2 == 1};
    list[998].deadlocked = 1;
    ck_assert_uint_eq(select_threads(list, 1000, 64, &cursor), 64);
    ck_assert_uint_eq(chosen(list, 1000, 0xFF), 64);
    ck_assert(list[0].why & THREADS_WHY_OWNER);
    ck_assert(list[998].why & THREADS_WHY_DEADLOCKED);
    ck_assert(list[999].why & THREADS_WHY_BUSY); /* the busiest */
    ck_assert_uint_ge(chosen(list, 1000, THREADS_WHY_BLOCKED), 11);
    ck_assert_uint_ge(chosen(list, 1000, THREADS_WHY_SAMPLED), 8);
}
END_TEST

START_TEST(choice_goes_around)
{
    candidate list[10];
    int64_t cursor = 0;
    int seen[10] = {0};
    for (int i = 0; i < 10; i++)
        list[i] = (candidate){.tid = i + 1};
    for (int round = 0; round < 5; round++) {
        ck_assert_uint_eq(select_threads(list, 10, 4, &cursor), 4);
        for (int i = 0; i < 10; i++)
            seen[i] += list[i].why != 0;
    }
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(seen[i], 2);
    ck_assert_uint_eq(select_threads(list, 10, 20, &cursor), 10);
    ck_assert_uint_eq(select_threads(list, 10, 0, &cursor), 0);
}
END_TEST

/*
 * Deadlocked threads come before owners, then busy, stalled and blocked threads, then the sample.
 */
START_TEST(choice_is_ranked)
{
    enum { N = 40 };
    candidate list[N] = {{0}};
    int64_t cursor = 20;
    uint32_t last = 0;
    for (int i = 0; i < N; i++)
        list[i] = (candidate){.tid = i + 1};
    list[7].blocked = 1;
    list[7].owner = 31; /* the second of five */
    list[3].cpu_delta = 5;
    list[9].cpu_delta = 9;
    list[35].deadlocked = 1;
    list[2].stalled = 1;
    static const int order[] = {35, 30, 9, 3, 2, 7, 20, 21, 22};
    ck_assert_uint_eq(select_threads(list, N, 9, &cursor), 9);
    for (int i = 0; i < ROWS(order); i++) {
        ck_assert_uint_ne(list[order[i]].why, 0);
        ck_assert(i == 0 || list[order[i]].rank > last);
        last = list[order[i]].rank;
    }
    ck_assert_int_eq(cursor, 23);
}
END_TEST

#define MS UINT64_C(1000000)

START_TEST(pauses_are_short_and_end)
{
    pauses p;
    pauses_begin(&p, 10 * MS, -1);
    ck_assert_uint_eq(pauses_next(&p, 3), 3);
    ck_assert_uint_eq(pauses_next(&p, 64), 8);
    pauses_add(&p, 0, MS / 10, -1); /* the search for deadlocks: the fixed cost of a pause */
    pauses_add(&p, 8, MS / 2, -1);
    ck_assert_uint_eq(pauses_next(&p, 64), 8);
    pauses_add(&p, 8, 4 * MS, -1); /* deeper stacks: a quarter of the budget has room for fewer */
    ck_assert_uint_gt(pauses_next(&p, 64), 1);
    ck_assert_uint_lt(pauses_next(&p, 64), 16);
    ck_assert_uint_eq(p.longest_ns, 4 * MS);
    pauses_add(&p, 1, 5 * MS + 3 * MS / 10, -1);
    ck_assert_uint_eq(pauses_next(&p, 64), 0); /* room only for a pause without stacks */
    ck_assert_uint_eq(p.spent_ns, 9 * MS + 9 * MS / 10);
    ck_assert_uint_eq(p.n, 4);
    pauses_begin(&p, MS, -1); /* the first stacks are always taken */
    pauses_add(&p, 0, 5 * MS, -1);
    ck_assert_uint_eq(pauses_next(&p, 64), 8);
    pauses_add(&p, 8, 5 * MS, -1);
    ck_assert_uint_eq(pauses_next(&p, 64), 0);
}
END_TEST

/* When stopping the JVM takes long, each call requests more stacks. */
START_TEST(pauses_that_cost_much_are_few)
{
    pauses p;
    pauses_begin(&p, 10 * MS, -1);
    pauses_add(&p, 0, 2 * MS, -1);
    pauses_add(&p, 8, 2 * MS + MS / 10, -1);
    ck_assert_uint_eq(pauses_next(&p, 56), 16);
    pauses_add(&p, 16, 2 * MS + MS / 5, -1);
    ck_assert_uint_eq(pauses_next(&p, 40), 32);
    ck_assert_uint_eq(pauses_next(&p, 20), 20);
    pauses_begin(&p, 60000 * MS, -1); /* a huge budget still gives short pauses */
    pauses_add(&p, 8, 1, -1);
    ck_assert_uint_eq(pauses_next(&p, SIZE_MAX), 8);
}
END_TEST

START_TEST(pauses_by_the_jvms_count)
{
    static const struct {
        int64_t before, after;
        uint64_t took_ms, spent_ms;
    } rows[] = {{-1, -1, 50, 50}, {-1, 7, 50, 50}, {7, -1, 50, 50},        {7, 6, 50, 50},
                {7, 7, 50, 2},    {7, 10, 50, 5},  {0, INT64_MAX, 50, 50}, {7, 10, 4, 4}};
    for (int i = 0; i < ROWS(rows); i++) {
        pauses p;
        pauses_begin(&p, 10 * MS, rows[i].before);
        pauses_add(&p, 8, rows[i].took_ms * MS, rows[i].after);
        ck_assert_uint_eq(p.spent_ns, rows[i].spent_ms * MS);
        ck_assert_uint_eq(p.longest_ns, rows[i].spent_ms * MS);
    }
    pauses p;
    pauses_begin(&p, 100 * MS, 1000);
    pauses_add(&p, 8, 20 * MS, 1001);
    pauses_add(&p, 8, 20 * MS, 1009); /* the rounding error of ms counts once in all */
    ck_assert_uint_eq(p.spent_ns, 11 * MS);
    ck_assert_uint_eq(p.longest_ns, 10 * MS);
}
END_TEST

static threads_ask good_request(void)
{
    return (threads_ask){.magic = THREADS_ASK,
                         .version = THREADS_VERSION,
                         .op = THREADS_OP_SNAPSHOT,
                         .max_threads = 100,
                         .max_depth = 100,
                         .max_bytes = 1 << 20,
                         .time_limit_ms = 1000,
                         .lease_ms = 1000,
                         .lease_id = "cli1"};
}

START_TEST(requests_are_checked)
{
    threads_ask good = good_request(), bad;
    ck_assert_ptr_null(request_fault(&good));
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.field = (value);                                                                       \
        ck_assert_str_eq(request_fault(&bad), #field);                                             \
    } while (0)
    REFUSED(magic, 1);
    REFUSED(version, 2);
    REFUSED(op, 3);
    REFUSED(max_threads, 0);
    REFUSED(max_threads, THREADS_THREADS_LIMIT + 1);
    REFUSED(max_stacks, THREADS_STACKS_LIMIT + 1);
    REFUSED(max_depth, 0);
    REFUSED(max_bytes, 100);
    REFUSED(max_bytes, THREADS_BYTES_LIMIT + 1);
    REFUSED(time_limit_ms, 0);
    REFUSED(lease_ms, 0);
    REFUSED(pause_ms, THREADS_PAUSE_LIMIT + 1);
    bad = good;
    memcpy(bad.lease_id, "../x", 5);
    ck_assert_str_eq(request_fault(&bad), "lease_id");
    bad = good;
    bad.lease_id[10] = 'x'; /* after its end */
    ck_assert_str_eq(request_fault(&bad), "lease_id");
}
END_TEST

START_TEST(leases_are_counted_and_end)
{
    leases l = {0};
    char id[THREADS_LEASE_ID_MAX] = "a";
    lease *a = leases_take(&l, id);
    ck_assert_ptr_eq(leases_take(&l, id), a);
    a->end_ns = 100;
    a->contention = true;
    for (int i = 1; i < THREADS_LEASES; i++) {
        id[0] = (char)('a' + i);
        leases_take(&l, id)->end_ns = 200;
    }
    id[0] = 'z';
    ck_assert_ptr_null(leases_take(&l, id));
    ck_assert_uint_eq(leases_next_end(&l), 100);
    ck_assert(leases_want_contention(&l));
    ck_assert_uint_eq(leases_expire(&l, 100), THREADS_LEASES - 1);
    ck_assert(!leases_want_contention(&l));
    ck_assert_ptr_nonnull(leases_take(&l, id));
    leases_find(&l, id)->end_ns = 300;
    ck_assert_uint_eq(leases_expire(&l, 200), 1);
    ck_assert_uint_eq(leases_expire(&l, 300), 0);
    ck_assert_uint_eq(leases_next_end(&l), UINT64_MAX);
}
END_TEST

/* ---- native ids ---- */

START_TEST(tasks_are_joined_where_certain)
{
    wire_out o;
    size_t n = 0;
    uint32_t tids[6];
    out_init(&o, 1 << 20);
    add_thread(&o, 1, "main", 70000000, 0, 0);              /* "java" in the kernel, telling time */
    add_thread(&o, 2, "worker-1", 5000, 0, 0);              /* exact */
    add_thread(&o, 3, "a-long-thread-name-1", 30000, 0, 0); /* running; one name */
    add_thread(&o, 4, "twin", 1000, 0, 0);                  /* two of one name and time */
    add_thread(&o, 5, "twin", 1000, 0, 0);
    add_thread(&o, 6, "stranger", 900, 0, 0); /* of no group */
    uint8_t *bytes = out_finish(&o, &n);
    attach_threads *t = decoded(bytes, n);
    attach__task list[] = {
        {.tid = 11, .name = "java", .before_ns = 69000000, .after_ns = 71000000},
        {.tid = 12, .name = "worker-1", .before_ns = 5000, .after_ns = 5000},
        {.tid = 13, .name = "a-long-..name-1", .before_ns = 29000, .after_ns = 31000},
        {.tid = 14, .name = "twin", .before_ns = 1000, .after_ns = 1000},
        {.tid = 15, .name = "twin", .before_ns = 1000, .after_ns = 1000},
        {.tid = 16, .name = "C2 CompilerThre", .before_ns = 5000, .after_ns = 5000},
    };
    attach__tasks tasks = {list, 6};
    attach__tasks_join(tids, &tasks, t);
    ck_assert_uint_eq(tids[0], 11);
    ck_assert_uint_eq(tids[1], 12);
    ck_assert_uint_eq(tids[2], 13);
    ck_assert_uint_eq(tids[3], 0);
    ck_assert_uint_eq(tids[4], 0);
    ck_assert_uint_eq(tids[5], 0);
    attach_threads_free(t);
    free(bytes);
    out_free(&o);
}
END_TEST

START_TEST(varints_at_their_edges)
{
    static const uint8_t longest[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
    static const uint8_t too_large[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
    uint64_t value = 0;
    attach__bytes rest = {longest, sizeof(longest), 0};
    ck_assert(attach__pb_varint(&rest, &value));
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert_uint_eq(rest.n, 0);
    rest = (attach__bytes){too_large, sizeof(too_large), 0};
    ck_assert(!attach__pb_varint(&rest, &value));
    rest = (attach__bytes){longest, 3, 0};
    ck_assert(!attach__pb_varint(&rest, &value));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("threads");
    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, cycle_without_its_followers);
    tcase_add_test(tc, cut_anywhere);
    tcase_add_test(tc, any_byte_changed);
    tcase_add_test(tc, names_cannot_drive_a_terminal);
    tcase_add_test(tc, cpu_since);
    tcase_add_test(tc, limit_is_told);
    tcase_add_test(tc, many_strings_keep_their_places);
    tcase_add_test(tc, utf16_becomes_utf8);
    tcase_add_test(tc, choice_keeps_room_for_every_kind);
    tcase_add_test(tc, choice_goes_around);
    tcase_add_test(tc, choice_is_ranked);
    tcase_add_test(tc, pauses_are_short_and_end);
    tcase_add_test(tc, pauses_that_cost_much_are_few);
    tcase_add_test(tc, pauses_by_the_jvms_count);
    tcase_add_test(tc, requests_are_checked);
    tcase_add_test(tc, leases_are_counted_and_end);
    tcase_add_test(tc, tasks_are_joined_where_certain);
    tcase_add_test(tc, varints_at_their_edges);
    Suite *suite = suite_create("threads");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
