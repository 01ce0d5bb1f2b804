/* SPDX-License-Identifier: Apache-2.0 */
/* The queue on disk. */
#include "../adapters/file_queue.h"
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
    ck_assert_int_eq(queue_push(to, (const uint8_t *)text, strlen(text)), 0);
}

static void expect(queue *from, const char *text)
{
    uint64_t sequence = 0;
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert(queue_peek(from, &sequence, &bytes, &length));
    ck_assert_uint_eq(length, strlen(text));
    ck_assert(memcmp(bytes, text, length) == 0);
    queue_remove(from, sequence);
    free(bytes);
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
    uint64_t sequence = 0;
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert(!queue_peek(one, &sequence, &bytes, &length));
    file_queue_close(one);
}
END_TEST

START_TEST(past_a_cap_the_oldest_go_and_are_counted)
{
    queue *one = open_queue(make_directory(), 12, 10);
    push(one, "aaaaa");
    push(one, "bbbbb");
    push(one, "ccccc");
    ck_assert_uint_eq(queue_get_stats(one).dropped, 1);
    expect(one, "bbbbb");
    expect(one, "ccccc");
    ck_assert_int_eq(queue_push(one, (const uint8_t *)"thirteen byte", 13), -1);
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
    (void)snprintf(path, sizeof(path), "%s/0000000000000002.batch", directory);
    ck_assert_int_eq(truncate(path, 3), 0);
    expect(one, "kept");
    uint64_t sequence = 0;
    uint8_t *bytes = NULL;
    size_t length = 0;
    ck_assert(!queue_peek(one, &sequence, &bytes, &length));
    ck_assert_uint_eq(queue_get_stats(one).damaged, 1);
    file_queue_close(one);
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
    tcase_add_test(tests, past_a_count_the_oldest_go);
    tcase_add_test(tests, half_written_and_damaged_files_stand_in_nobodys_way);
    tcase_add_test(tests, two_collectors_cannot_share_it);
    return tests;
}
