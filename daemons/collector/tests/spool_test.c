/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the queue when the disk, the process or the clock fails: missing entries are counted, the
 * others are there, and the log names the file. */
#include "../adapters/queue/file_queue.h"
#include "collector_tests.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, NOBODY = 65534 };

static const char *directory;
static queue *spool;

static void path_of(char out[256], const char *name)
{
    (void)snprintf(out, 256, "%s/%s", directory, name);
}

static void reopen(uint64_t bytes, uint64_t entries)
{
    char message[256] = "";
    file_queue_close(spool);
    ck_assert_msg(file_queue_open(&spool, directory, bytes, entries, message, sizeof(message)) == 0,
                  "%s", message);
}

static void set_up(void)
{
    directory = make_directory();
    reopen(1000000, 100);
}

static void tear_down(void)
{
    file_queue_close(spool);
    remove_directory();
}

static int push_bytes(char letter, size_t length)
{
    char *bytes = malloc(length);
    memset(bytes, letter, length);
    int rc = queue_push(spool, QUEUE_PROFILES, (const uint8_t *)bytes, length, NULL);
    free(bytes);
    return rc;
}

static void push(char letter)
{
    ck_assert_int_eq(push_bytes(letter, PAGE), 0);
}

/* Removes the entries that are left and returns them, oldest first, one letter each. */
static const char *letters(void)
{
    static char found[128];
    queue_entry entry;
    size_t n = 0;
    while (queue_peek(spool, &entry)) {
        ck_assert_uint_gt(entry.length, 0);
        ck_assert(entry.bytes[0] == entry.bytes[entry.length - 1]);
        found[n++] = (char)entry.bytes[0];
        queue_remove(spool, entry.sequence);
        free(entry.bytes);
    }
    found[n] = '\0';
    return found;
}

static uint64_t dropped(enum drop_cause cause)
{
    return queue_get_stats(spool).drops[cause].entries;
}

/* Sends the log to a file from here on. */
static void catch_log(void)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    close(fd);
}

static void assert_logged(const char *name, const char *what)
{
    static char text[65536];
    ssize_t length = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strstr(line, directory) != NULL && strstr(line, name) != NULL &&
            strstr(line, what) != NULL)
            return;
    }
    ck_abort_msg("no log line has %s, %s and %s", directory, name, what);
}

START_TEST(a_delivered_batch_whose_file_comes_back_is_in_doubt_and_not_lost)
{
    char entry[256], copy[256];
    push('a');
    push('b');
    path_of(entry, "0000000000000001.profiles");
    path_of(copy, "copy");
    ck_assert_int_eq(link(entry, copy), 0);
    queue_entry first;
    ck_assert(queue_peek(spool, &first));
    queue_remove(spool, first.sequence);
    free(first.bytes);
    /* The machine stopped before the directory without that name was on the disk. */
    ck_assert_int_eq(rename(copy, entry), 0);
    reopen(1000000, 100);
    queue_stats stats = queue_get_stats(spool);
    /* The uploader asks the backend whether it has the entries up to it. */
    ck_assert_uint_eq(stats.newest, 2);
    ck_assert_uint_eq(queue_dropped(&stats), 0);
    ck_assert_str_eq(letters(), "ab");
}
END_TEST

/* Pushes entries until it is killed, and reports each through a pipe once it is in the queue. */
static void push_for_ever(int told)
{
    char message[256];
    if (file_queue_open(&spool, directory, 1000000, 5, message, sizeof(message)) != 0)
        _exit(1);
    for (unsigned i = 0;; i++) {
        if (push_bytes((char)('a' + i % 26), PAGE) != 0 || write(told, "+", 1) != 1)
            _exit(1);
    }
}

START_TEST(a_killed_collector_counts_what_is_missing)
{
    enum { ROUNDS = 20 };
    uint64_t told = 0, lost = 0;
    catch_log();
    file_queue_close(spool);
    spool = NULL;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char byte;
        int pipes[2];
        ck_assert_int_eq(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0)
            push_for_ever(pipes[1]);
        close(pipes[1]);
        for (unsigned i = 0; i < 6 + round; i++)
            ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
        told += 6 + round;
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        while (read(pipes[0], &byte, 1) == 1)
            told++;
        close(pipes[0]);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        reopen(1000000, 5);
        queue_stats stats = queue_get_stats(spool);
        uint64_t known = lost + stats.drops[DROP_QUEUE_FULL].entries + stats.entries;
        /* An entry may be in the queue before the child could report it. */
        ck_assert_uint_ge(known, told);
        ck_assert_uint_le(known, told + 1);
        told = known;
        ck_assert_uint_ne(stats.drops[DROP_QUEUE_FULL].oldest_ms, 0);
        if (round % 2 == 1) { /* a heartbeat has reported it */
            lost += stats.drops[DROP_QUEUE_FULL].entries;
            queue_forget_drops(spool, &stats);
        }
        file_queue_close(spool);
        spool = NULL;
    }
}
END_TEST

START_TEST(drops_of_before_a_restart_are_told_once_with_their_times)
{
    reopen(1000000, 2);
    push('a');
    uint64_t added_ms = queue_get_stats(spool).oldest_ms;
    push('b');
    push('c');
    queue_entry entry;
    ck_assert(queue_peek(spool, &entry));
    queue_drop(spool, entry.sequence, DROP_REJECTED);
    free(entry.bytes);
    reopen(1000000, 2);
    queue_stats stats = queue_get_stats(spool);
    ck_assert_uint_eq(stats.drops[DROP_QUEUE_FULL].entries, 1);
    ck_assert_uint_eq(stats.drops[DROP_QUEUE_FULL].oldest_ms, added_ms);
    ck_assert_uint_eq(stats.drops[DROP_REJECTED].entries, 1);
    push('d');
    push('e'); /* c is dropped for it, and is counted on its own */
    stats = queue_get_stats(spool);
    ck_assert_uint_eq(stats.drops[DROP_QUEUE_FULL].entries, 2);
    queue_forget_drops(spool, &stats);
    reopen(1000000, 2);
    stats = queue_get_stats(spool);
    ck_assert_uint_eq(queue_dropped(&stats), 0);
    ck_assert_str_eq(letters(), "de");
}
END_TEST

START_TEST(torn_files_are_counted_and_named)
{
    static const char *const torn[] = {"0000000000000001.profiles", "0000000000000003.profiles"};
    char path[256];
    catch_log();
    push('a');
    push('b');
    push('c');
    push('d');
    path_of(path, torn[0]);
    ck_assert_int_eq(truncate(path, 0), 0); /* found at the start */
    path_of(path, "00000000000000ff.tmp");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    reopen(1000000, 100);
    path_of(path, torn[1]);
    ck_assert_int_eq(truncate(path, PAGE / 2), 0);
    ck_assert_str_eq(letters(), "bd");
    ck_assert_uint_eq(dropped(DROP_DAMAGED), 2);
    assert_logged(torn[0], "(damaged)");
    assert_logged(torn[1], "(damaged)");
    assert_logged("00000000000000ff.tmp", "removed");
}
END_TEST

START_TEST(want_of_descriptors_costs_no_batch)
{
    struct rlimit before;
    push('a');
    push('b');
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    queue_entry entry;
    ck_assert(!queue_peek(spool, &entry));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_uint_eq(dropped(DROP_DAMAGED), 0);
    ck_assert_str_eq(letters(), "ab");
}
END_TEST

/* Mounts a file system of so many pages that only this test sees. Returns false where it may
 * not. */
static bool mount_small_disk(unsigned pages)
{
    char options[64];
    (void)snprintf(options, sizeof(options), "size=%u", pages * PAGE);
    file_queue_close(spool);
    spool = NULL;
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", directory, "tmpfs", 0, options) == 0;
}

/* Limits files to one page, for systems where nothing may be mounted. */
static void limit_files(void)
{
    const struct rlimit page = {PAGE, PAGE};
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &page), 0);
}

START_TEST(a_full_disk_costs_the_oldest_and_as_few_as_it_can)
{
    catch_log();
    if (!mount_small_disk(10)) {
        (void)printf("# SKIP a small tmpfs cannot be mounted: run the test as root; "
                     "a_write_that_fails_costs_that_batch_alone has run\n");
        return;
    }
    reopen(1000000, 100);
    for (int i = 0; i < 8; i++)
        push((char)('a' + i));
    char other[256];
    path_of(other, "of-somebody-else");
    int fd = open(other, O_CREAT | O_WRONLY, 0600);
    static const char page[PAGE];
    while (write(fd, page, PAGE) == PAGE)
        continue;
    close(fd);
    ck_assert_int_eq(push_bytes('i', 3 * PAGE), 0);
    ck_assert_uint_eq(dropped(DROP_DISK), 3);
    assert_logged("0000000000000001.profiles", "(disk)");
    assert_logged("0000000000000003.profiles", "(disk)");
    reopen(1000000, 100);
    ck_assert_uint_eq(dropped(DROP_DISK), 3);
    ck_assert_str_eq(letters(), "defghi");
    file_queue_close(spool);
    spool = NULL;
    ck_assert_int_eq(umount2(directory, MNT_DETACH), 0);
}
END_TEST

START_TEST(a_write_that_fails_costs_that_batch_alone)
{
    catch_log();
    push('a');
    push('b');
    limit_files();
    ck_assert_int_eq(push_bytes('c', PAGE + 1), -1);
    push('d');
    ck_assert_uint_eq(dropped(DROP_DISK), 1);
    ck_assert_uint_ne(queue_get_stats(spool).drops[DROP_DISK].oldest_ms, 0);
    assert_logged("a batch of 4097 bytes", strerror(EFBIG));
    reopen(1000000, 100);
    ck_assert_str_eq(letters(), "abd");
}
END_TEST

/* Makes writing fail; root becomes another user, as it may write everywhere. */
static void forbid_writing(void)
{
    ck_assert_int_eq(chmod(directory, 0500), 0);
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chown(directory, NOBODY, NOBODY), 0);
    for (int number = 1; number <= 3; number++) {
        char name[64], path[256];
        (void)snprintf(name, sizeof(name), "%016x.profiles", (unsigned)number);
        path_of(path, name);
        ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
    }
    char path[256];
    path_of(path, "lock");
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
    ck_assert_int_eq(setgroups(0, NULL), 0);
    ck_assert_int_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
    ck_assert_int_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
}

START_TEST(a_directory_that_turns_read_only_gives_what_it_has)
{
    catch_log();
    reopen(1000000, 3);
    push('a');
    push('b');
    push('c');
    forbid_writing();
    /* Dropping the oldest would not make room. */
    ck_assert_int_eq(push_bytes('d', PAGE), -1);
    ck_assert_uint_eq(queue_get_stats(spool).entries, 3);
    queue_stats stats = queue_get_stats(spool);
    ck_assert_uint_eq(queue_dropped(&stats), 1);
    assert_logged("a batch of 4096 bytes", "lost");
    ck_assert_str_eq(letters(), "abc");
    assert_logged("0000000000000002.profiles", "cannot be removed: Permission denied");
    ck_assert_int_eq(push_bytes('e', PAGE), -1);
    ck_assert_uint_eq(dropped(DROP_DISK), 1);
    assert_logged("a batch of 4096 bytes", "Permission denied");
    ck_assert_int_eq(chmod(directory, 0700), 0);
    reopen(1000000, 3);
    ck_assert_str_eq(letters(), "abc"); /* sent again, which the backend recognises by its ledger */
}
END_TEST

START_TEST(a_directory_that_is_read_only_at_the_start_is_named)
{
    char message[256] = "";
    push('a');
    push('b');
    push('c');
    file_queue_close(spool);
    spool = NULL;
    char path[256];
    path_of(path, "lock");
    ck_assert_int_eq(unlink(path), 0);
    close(open(path, O_CREAT | O_WRONLY, 0400));
    forbid_writing();
    ck_assert_int_eq(file_queue_open(&spool, directory, 1000, 10, message, sizeof(message)), -1);
    ck_assert_ptr_nonnull(strstr(message, directory));
    ck_assert_ptr_nonnull(strstr(message, "Permission denied"));
    ck_assert_int_eq(chmod(directory, 0700), 0);
}
END_TEST

START_TEST(a_clock_that_jumps_changes_no_order)
{
    enum { DAY_S = 86400 };
    char path[256];
    push('a');
    push('b');
    push('c');
    static const struct {
        const char *name;
        int days;
    } jumps[] = {{"0000000000000001.profiles", 1}, {"0000000000000003.profiles", -1}};
    uint64_t now_ms = queue_get_stats(spool).oldest_ms;
    for (size_t i = 0; i < 2; i++) {
        const time_t seconds = (time_t)(now_ms / 1000) + (time_t)jumps[i].days * DAY_S;
        const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
        path_of(path, jumps[i].name);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    reopen(1000000, 3);
    push('d');
    push('e');
    push('f');
    const queue_drops drops = queue_get_stats(spool).drops[DROP_QUEUE_FULL];
    ck_assert_uint_eq(drops.entries, 3);
    ck_assert_uint_eq(drops.oldest_ms / 1000, now_ms / 1000 - DAY_S);
    ck_assert_uint_eq(drops.newest_ms / 1000, now_ms / 1000 + DAY_S);
    ck_assert_str_eq(letters(), "def");
}
END_TEST

static const char *const foreign[] = {
    "README",
    "0000000000000002",
    "0000000000000002.profiles.bak",
    "ffffffffffffffff.profiles",
    "0000000000000000.profiles",
    "-000000000000003.profiles",
    "000000000000000A.profiles",
    "0000000000000004.other",
};

START_TEST(foreign_files_are_left_alone_and_named)
{
    char path[256];
    catch_log();
    push('a');
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        path_of(path, foreign[i]);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        ck_assert_int_eq(write(fd, "x", 1), 1);
        close(fd);
    }
    reopen(1000000, 100);
    push('b');
    reopen(1000000, 100);
    queue_stats stats = queue_get_stats(spool);
    ck_assert_uint_eq(stats.newest, 2);
    ck_assert_uint_eq(queue_dropped(&stats), 0);
    ck_assert_str_eq(letters(), "ab");
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        path_of(path, foreign[i]);
        ck_assert_int_eq(access(path, F_OK), 0);
        assert_logged(foreign[i], "left alone");
    }
}
END_TEST

START_TEST(what_is_no_file_is_left_alone)
{
    char path[256], target[256];
    push('a');
    path_of(target, "0000000000000001.profiles");
    path_of(path, "0000000000000005.profiles");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    path_of(path, "0000000000000006.profiles");
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* opening it for reading would wait for ever */
    path_of(path, "0000000000000007.profiles");
    ck_assert_int_eq(symlink(target, path), 0);
    reopen(1000000, 100);
    queue_stats stats = queue_get_stats(spool);
    ck_assert_uint_eq(stats.entries, 1);
    ck_assert_str_eq(letters(), "a");
    ck_assert_uint_eq(dropped(DROP_DAMAGED), 0);
    path_of(path, "0000000000000005.profiles");
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

TCase *spool_tests(void)
{
    TCase *tests = tcase_create("spool");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_delivered_batch_whose_file_comes_back_is_in_doubt_and_not_lost);
    tcase_add_test(tests, a_killed_collector_counts_what_is_missing);
    tcase_add_test(tests, drops_of_before_a_restart_are_told_once_with_their_times);
    tcase_add_test(tests, torn_files_are_counted_and_named);
    tcase_add_test(tests, want_of_descriptors_costs_no_batch);
    tcase_add_test(tests, a_full_disk_costs_the_oldest_and_as_few_as_it_can);
    tcase_add_test(tests, a_write_that_fails_costs_that_batch_alone);
    tcase_add_test(tests, a_directory_that_turns_read_only_gives_what_it_has);
    tcase_add_test(tests, a_directory_that_is_read_only_at_the_start_is_named);
    tcase_add_test(tests, a_clock_that_jumps_changes_no_order);
    tcase_add_test(tests, foreign_files_are_left_alone_and_named);
    tcase_add_test(tests, what_is_no_file_is_left_alone);
    return tests;
}
