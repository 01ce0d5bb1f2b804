/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the queue on disk. */
#include "../adapters/queue/file_queue.h"
#include "collector_tests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static queue *open_queue(const char *directory, uint64_t bytes, uint64_t entries)
{
    queue *opened = NULL;
    char message[256] = "";
    ck_assert_msg(file_queue_open(&opened, directory, bytes, entries, message, sizeof(message)) ==
                      0,
                  "%s", message);
    return opened;
}

static void push(queue *to, const char *text)
{
    ck_assert_int_eq(queue_push(to, QUEUE_PROFILES, (const uint8_t *)text, strlen(text), NULL), 0);
}

static void expect(queue *from, const char *text)
{
    queue_entry entry;
    ck_assert(queue_peek(from, &entry));
    ck_assert_int_eq(entry.kind, QUEUE_PROFILES);
    ck_assert_uint_eq(entry.length, strlen(text));
    ck_assert(memcmp(entry.bytes, text, entry.length) == 0);
    queue_remove(from, entry.sequence);
    free(entry.bytes);
}

START_TEST(entries_come_oldest_first_and_survive_a_restart)
{
    const char *directory = make_directory();
    queue *one = open_queue(directory, 1000, 10);
    push(one, "first");
    push(one, "second");
    push(one, "third");
    expect(one, "first");
    file_queue_close(one);
    one = open_queue(directory, 1000, 10);
    ck_assert_uint_eq(queue_get_stats(one).entries, 2);
    ck_assert_uint_eq(queue_get_stats(one).bytes, 11);
    push(one, "fourth");
    expect(one, "second");
    expect(one, "third");
    expect(one, "fourth");
    queue_entry entry;
    ck_assert(!queue_peek(one, &entry));
    file_queue_close(one);
}
END_TEST

START_TEST(past_a_cap_the_oldest_go_and_are_counted)
{
    queue *one = open_queue(make_directory(), 12, 10);
    push(one, "aaaaa");
    push(one, "bbbbb");
    push(one, "ccccc");
    ck_assert_uint_eq(queue_get_stats(one).drops[DROP_QUEUE_FULL].entries, 1);
    expect(one, "bbbbb");
    expect(one, "ccccc");
    ck_assert_int_eq(queue_push(one, QUEUE_PROFILES, (const uint8_t *)"thirteen byte", 13, NULL),
                     -1);
    ck_assert_uint_eq(queue_get_stats(one).drops[DROP_QUEUE_FULL].entries, 2);
    file_queue_close(one);
}
END_TEST

START_TEST(a_drop_is_told_with_its_time_until_it_has_been_told)
{
    const char *directory = make_directory();
    queue *one = open_queue(directory, 1000, 10);
    push(one, "first");
    file_queue_close(one);
    one = open_queue(directory, 1000, 2);
    push(one, "second");
    uint64_t added_ms = queue_get_stats(one).oldest_ms;
    ck_assert_uint_ne(added_ms, 0);
    push(one, "third");
    queue_stats told = queue_get_stats(one);
    ck_assert_uint_eq(told.pushed, 2);
    ck_assert_uint_eq(told.drops[DROP_QUEUE_FULL].oldest_ms, added_ms);
    ck_assert_uint_eq(told.drops[DROP_QUEUE_FULL].newest_ms, added_ms);
    queue_entry entry;
    ck_assert(queue_peek(one, &entry));
    queue_drop(one, entry.sequence, DROP_REJECTED);
    free(entry.bytes);
    queue_forget_drops(one, &told);
    queue_stats now = queue_get_stats(one);
    ck_assert_uint_eq(now.drops[DROP_QUEUE_FULL].entries, 1);
    ck_assert_uint_eq(now.drops[DROP_QUEUE_FULL].oldest_ms, 0);
    ck_assert_uint_eq(now.drops[DROP_REJECTED].entries, 1);
    ck_assert_uint_ne(now.drops[DROP_REJECTED].oldest_ms, 0);
    ck_assert_uint_eq(queue_dropped(&now), 2);
    file_queue_close(one);
}
END_TEST

START_TEST(past_a_count_the_oldest_go)
{
    queue *one = open_queue(make_directory(), 1000, 2);
    push(one, "1");
    push(one, "2");
    push(one, "3");
    ck_assert_uint_eq(queue_get_stats(one).entries, 2);
    expect(one, "2");
    file_queue_close(one);
}
END_TEST

START_TEST(half_written_and_damaged_files_stand_in_nobodys_way)
{
    const char *directory = make_directory();
    queue *one = open_queue(directory, 1000, 10);
    push(one, "kept");
    push(one, "cut short");
    file_queue_close(one);
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/00000000000000ff.tmp", directory);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    one = open_queue(directory, 1000, 10);
    ck_assert_int_ne(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/0000000000000002.profiles", directory);
    ck_assert_int_eq(truncate(path, 3), 0);
    expect(one, "kept");
    queue_entry entry;
    ck_assert(!queue_peek(one, &entry));
    ck_assert_uint_eq(queue_get_stats(one).drops[DROP_DAMAGED].entries, 1);
    file_queue_close(one);
}
END_TEST

static queue_position position_at(uint64_t offset)
{
    queue_position at = {.events = {{[EVENT_CPU] = 10, [EVENT_LOCK] = 20}},
                         .threads_ms = 30,
                         .session_ms = 9,
                         .offset = offset,
                         .told_ms = 40};
    at.jvm = sample_jvm(7);
    at.jvm.uid = 0;
    at.jvm.command_line[0] = '\0';
    (void)snprintf(at.labels.workload, sizeof(at.labels.workload), "a shop");
    (void)snprintf(at.labels.service, sizeof(at.labels.service), "shop");
    return at;
}

static void push_at(queue *to, const char *text, uint64_t offset)
{
    const queue_position at = position_at(offset);
    const queue_positions positions = {&at, 1};
    ck_assert_int_eq(
        queue_push(to, QUEUE_PROFILES, (const uint8_t *)text, strlen(text), &positions), 0);
}

static void expect_position(const char *directory, uint64_t offset)
{
    const queue_position expected = position_at(offset);
    queue *one = open_queue(directory, 1000, 10);
    queue_positions found = queue_get_positions(one);
    ck_assert_uint_eq(found.count, 1);
    const queue_position *at = &found.all[0];
    ck_assert(local_identity_equal(&at->jvm.id, &expected.jvm.id));
    ck_assert_uint_eq(at->jvm.ns_pid, expected.jvm.ns_pid);
    ck_assert_uint_eq(at->jvm.start_ms, expected.jvm.start_ms);
    ck_assert_str_eq(at->jvm.main_class, expected.jvm.main_class);
    ck_assert_mem_eq(&at->labels, &expected.labels, sizeof(at->labels));
    ck_assert_mem_eq(&at->events, &expected.events, sizeof(at->events));
    ck_assert_uint_eq(at->threads_ms, 30);
    ck_assert_uint_eq(at->session_ms, 9);
    ck_assert_uint_eq(at->offset, offset);
    ck_assert_uint_eq(at->told_ms, 40);
    file_queue_close(one);
}

START_TEST(positions_outlive_their_entry_and_an_entry_without_any)
{
    const char *directory = make_directory();
    queue *one = open_queue(directory, 1000, 10);
    ck_assert_uint_eq(queue_get_positions(one).count, 0);
    push_at(one, "first", 10);
    push_at(one, "second", 20);
    push(one, "third");
    expect(one, "first");
    expect(one, "second");
    file_queue_close(one);
    expect_position(directory, 20);
}
END_TEST

/* A collector that is killed between the two files leaves this state. */
START_TEST(positions_are_in_force_exactly_when_their_entry_is_there)
{
    const char *directory = make_directory();
    char from[128], path[128];
    queue *one = open_queue(directory, 1000, 10);
    push_at(one, "first", 10);
    (void)snprintf(from, sizeof(from), "%s/positions", directory);
    (void)snprintf(path, sizeof(path), "%s/newer", directory);
    push_at(one, "second", 200);
    ck_assert_int_eq(rename(from, path), 0);
    push_at(one, "third", 20);
    file_queue_close(one);
    for (int entry = 4; entry >= 3; entry--) { /* 4 is not in the queue */
        char unproven[128];
        (void)snprintf(unproven, sizeof(unproven), "%s/%016d.positions", directory, entry);
        ck_assert_int_eq(link(path, unproven), 0);
        expect_position(directory, entry == 4 ? 20 : 200);
        ck_assert_int_ne(access(unproven, F_OK), 0);
    }
}
END_TEST

START_TEST(two_collectors_cannot_share_it)
{
    const char *directory = make_directory();
    queue *one = open_queue(directory, 1000, 10);
    queue *other = NULL;
    char message[256] = "";
    ck_assert_int_eq(file_queue_open(&other, directory, 1000, 10, message, sizeof(message)), -1);
    ck_assert_ptr_nonnull(strstr(message, "another collector"));
    file_queue_close(one);
}
END_TEST

TCase *queue_tests(void)
{
    TCase *tests = tcase_create("queue");
    tcase_add_checked_fixture(tests, NULL, remove_directory);
    tcase_add_test(tests, entries_come_oldest_first_and_survive_a_restart);
    tcase_add_test(tests, past_a_cap_the_oldest_go_and_are_counted);
    tcase_add_test(tests, a_drop_is_told_with_its_time_until_it_has_been_told);
    tcase_add_test(tests, past_a_count_the_oldest_go);
    tcase_add_test(tests, half_written_and_damaged_files_stand_in_nobodys_way);
    tcase_add_test(tests, positions_outlive_their_entry_and_an_entry_without_any);
    tcase_add_test(tests, positions_are_in_force_exactly_when_their_entry_is_there);
    tcase_add_test(tests, two_collectors_cannot_share_it);
    return tests;
}
