/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the room base: which bytes a log line may contain, UTF-8, hexadecimal, clocks. */
#include "run_suite.h"

#include <base/clock.h>
#include <base/environment.h>
#include <base/hex.h>
#include <base/log.h>
#include <base/near_miss.h>
#include <base/rfc3339.h>
#include <base/thread.h>
#include <base/utf8.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes one log line with `message` and reads it back. */
static void capture(char *line, size_t size, const char *message)
{
    int ends[2];
    int saved = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    log_message(NULL, message);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], line, size - 1);
    ck_assert_int_gt(length, 0);
    line[length] = '\0';
    close(ends[0]);
}

START_TEST(a_log_line_is_one_line_without_control_bytes)
{
    char line[2048];
    capture(line, sizeof(line),
            "token \"a\nb\x1b[2J\x7f\" of caf\xc3\xa9, \xff\xed\xa0\x80\xc2\x9b %s");
    const char *message = strstr(line, ": ");
    ck_assert_ptr_nonnull(message);
    ck_assert_str_eq(message + 2, "token \"a?b?[2J?\" of caf\xc3\xa9, ?????? %s\n");
    ck_assert_int_eq(line[4], '-');
    ck_assert_ptr_nonnull(strstr(line, "Z base_test: "));
}
END_TEST

START_TEST(a_long_log_line_is_cut)
{
    char line[4096], message[3000];
    memset(message, 'x', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    capture(line, sizeof(line), message);
    ck_assert_uint_lt(strlen(line), 1100);
    ck_assert_int_eq(line[strlen(line) - 1], '\n');
}
END_TEST

static const struct {
    const char *bytes;
    size_t length, sequence;
} sequences[] = {
    {"a", 1, 1},
    {"", 0, 0},
    {"\0", 1, 0},
    {"\xc3\xa9", 2, 2},
    {"\xc3", 1, 0},
    {"\xc1\x81", 2, 0},     /* overlong */
    {"\xe0\x9f\x81", 3, 0}, /* overlong */
    {"\xed\xa0\x80", 3, 0}, /* surrogate */
    {"\xe2\x82\xac!", 4, 3},
    {"\xf0\x9f\x98\x80", 4, 4},
    {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
    {"\xf5\x80\x80\x80", 4, 0},
    {"\x80", 1, 0},
};

START_TEST(a_character_has_its_length)
{
    ck_assert_uint_eq(
        utf8_sequence((const unsigned char *)sequences[_i].bytes, sequences[_i].length),
        sequences[_i].sequence);
}
END_TEST

START_TEST(text_is_utf8_without_nul)
{
    ck_assert(utf8_is_text("", 0));
    ck_assert(utf8_is_text("a\xe2\x82\xac\n", 5));
    ck_assert(!utf8_is_text("a\0b", 3));
    ck_assert(!utf8_is_text("a\xe2\x82", 3));
}
END_TEST

START_TEST(bytes_have_two_digits_each)
{
    char out[9];
    ck_assert_uint_eq(hex_write(out, (const uint8_t[]){0, 0x0f, 0xa0, 0xff}, 4), 8);
    ck_assert_str_eq(out, "000fa0ff");
}
END_TEST

static const struct {
    const char *text;
    int rc;
    uint64_t ms;
} moments[] = {
    {"1970-01-01T00:00:00Z", 0, 0},
    {"2026-11-26T23:10:00Z", 0, UINT64_C(1795734600000)},
    {"2026-11-27T01:10:00.25+02:00", 0, UINT64_C(1795734600250)},
    {"2026-11-26t18:10:00-05:00", 0, UINT64_C(1795734600000)},
    {"2016-12-31T23:59:60Z", 0, UINT64_C(1483228800000)}, /* a leap second */
    {"2026-02-29T00:00:00Z", -1, 0},
    {"2026-11-26T23:10:00", -1, 0},
    {"2026-11-26 23:10:00Z", -1, 0},
    {"2026-11-26T23:10Z", -1, 0},
    {"2026-11-26T23:10:00.Z", -1, 0},
    {"2026-11-26T23:10:00+2", -1, 0},
    {"2026-11-26T24:10:00Z", -1, 0},
    {"1969-12-31T23:59:59Z", -1, 0},
    {"", -1, 0},
};

START_TEST(times_are_read_as_rfc_3339_writes_them)
{
    uint64_t ms = 0;
    ck_assert_int_eq(rfc3339_parse(&ms, moments[_i].text), moments[_i].rc);
    if (moments[_i].rc == 0)
        ck_assert_uint_eq(ms, moments[_i].ms);
}
END_TEST

START_TEST(clocks_go_forward)
{
    uint64_t unix_ms = clock_unix_ms(NULL);
    uint64_t monotonic = clock_monotonic_ms(NULL);
    ck_assert_uint_gt(unix_ms, UINT64_C(1700000000000));
    ck_assert_uint_ge(clock_monotonic_ms(NULL), monotonic);
}
END_TEST

START_TEST(a_number_has_sixteen_digits)
{
    uint64_t number = 0;
    ck_assert(hex_read_number(&number, "00ffabcdef012345-"));
    ck_assert_uint_eq(number, 0xffabcdef012345);
    ck_assert(!hex_read_number(&number, "00ffabcdef01234"));
    ck_assert(!hex_read_number(&number, "00FFabcdef012345"));
    ck_assert(!hex_read_number(&number, ""));
}
END_TEST

static const struct {
    const char *typed;
    const char *hint;
} typos[] = {
    {"conver", "; did you mean 'convert'?"},
    {"CONVERT", "; did you mean 'convert'?"},
    {"dif", "; did you mean 'diff'?"},
    {"tpo", "; did you mean 'top'?"},
    {"pss", "; did you mean 'ps'?"},
    {"", ""},
    {"frobnicate", ""},
    {"x", ""},
};

START_TEST(a_typo_is_answered_with_the_nearest_name)
{
    static const char *const names[] = {"convert", "diff", "top", "ps", ""};
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    near_miss_begin(&near, typos[_i].typed, strlen(typos[_i].typed));
    for (size_t i = 0; i < ROWS(names); i++)
        near_miss_try(&near, names[i], strlen(names[i]));
    ck_assert_str_eq(near_miss_hint(&near, hint), typos[_i].hint);
}
END_TEST

START_TEST(a_long_name_is_near_to_nothing)
{
    char name[2 * NEAR_MISS_LENGTH];
    near_miss near;
    memset(name, 'a', sizeof(name));
    near_miss_begin(&near, name, sizeof(name));
    near_miss_try(&near, name, 5);
    ck_assert_str_eq(near.name, "");
    near_miss_begin(&near, name, NEAR_MISS_LENGTH - 1);
    near_miss_try(&near, name, sizeof(name));
    near_miss_try(&near, name, NEAR_MISS_LENGTH - 1);
    ck_assert_uint_eq(strlen(near.name), NEAR_MISS_LENGTH - 1);
}
END_TEST

static char reported[256];

static void note_typo(const char *typed, const char *meant)
{
    size_t used = strlen(reported);
    (void)snprintf(reported + used, sizeof(reported) - used, "%s>%s ", typed, meant);
}

START_TEST(a_mistyped_variable_is_reported_and_others_are_not)
{
    static const char *const names[] = {"HOTSTACK_QUEUE_MAX_BYTES", "HOTSTACK_BACKEND_URL"};
    static const char *const set[] = {
        "HOTSTACK_QUEUE_MAX_BYTE=1", "HOTSTACK_BACKEND_PORT=tcp://10.0.0.1",
        "HOTSTACK_BACKEND_URL=x",    "HOTSTACK_ASYNC_PROFILR=/x",
        "HOTSTACK_DATADIR=/x",       "HOTSTAK_DATADIR=/x",
        "HOTSTACK_SOMETHING_ELSE=1", "BACKEND_URL=x"};
    char *envp[ROWS(set) + 1] = {NULL};
    for (size_t i = 0; i < ROWS(set); i++)
        envp[i] = strdup(set[i]);
    reported[0] = '\0';
    environment_find_typos(envp, names, ROWS(names), note_typo);
    for (size_t i = 0; i < ROWS(set); i++)
        free(envp[i]);
    ck_assert_str_eq(reported, "HOTSTACK_QUEUE_MAX_BYTE>HOTSTACK_QUEUE_MAX_BYTES "
                               "HOTSTACK_ASYNC_PROFILR>HOTSTACK_ASYNC_PROFILER ");
}
END_TEST

static void *count_blocked(void *context)
{
    sigset_t blocked;
    int *count = context;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    *count = sigismember(&blocked, SIGTERM) + sigismember(&blocked, SIGHUP);
    return NULL;
}

START_TEST(signals_do_not_reach_a_thread)
{
    pthread_t thread;
    sigset_t own;
    int count = 0;
    ck_assert_int_eq(thread_start(&thread, count_blocked, &count), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(count, 2);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &own);
    ck_assert_int_eq(sigismember(&own, SIGTERM), 0);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never;
    uint64_t before = clock_monotonic_ms(NULL);
    thread_condition_init(&never);
    pthread_mutex_lock(&lock);
    for (uint64_t ms = 1; ms < 5000; ms += 7) {
        struct timespec until = thread_deadline(ms);
        ck_assert_int_lt(until.tv_nsec, 1000000000);
        ck_assert_uint_ge((uint64_t)until.tv_sec * 1000 + (uint64_t)until.tv_nsec / 1000000,
                          before + ms);
    }
    struct timespec until = thread_deadline(2);
    int rc = 0;
    while (rc == 0)
        rc = pthread_cond_timedwait(&never, &lock, &until);
    ck_assert_int_eq(rc, ETIMEDOUT);
    ck_assert_uint_ge(clock_monotonic_ms(NULL), before + 2);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&never);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *log = tcase_create("log");
    tcase_add_test(log, a_log_line_is_one_line_without_control_bytes);
    tcase_add_test(log, a_long_log_line_is_cut);
    suite_add_tcase(suite, log);
    TCase *text = tcase_create("text");
    tcase_add_loop_test(text, a_character_has_its_length, 0, ROWS(sequences));
    tcase_add_test(text, text_is_utf8_without_nul);
    tcase_add_test(text, bytes_have_two_digits_each);
    tcase_add_loop_test(text, a_typo_is_answered_with_the_nearest_name, 0, ROWS(typos));
    tcase_add_test(text, a_long_name_is_near_to_nothing);
    tcase_add_test(text, a_mistyped_variable_is_reported_and_others_are_not);
    suite_add_tcase(suite, text);
    TCase *clocks = tcase_create("clocks");
    tcase_add_test(clocks, clocks_go_forward);
    tcase_add_test(clocks, a_number_has_sixteen_digits);
    tcase_add_loop_test(clocks, times_are_read_as_rfc_3339_writes_them, 0, ROWS(moments));
    suite_add_tcase(suite, clocks);
    TCase *threads = tcase_create("threads");
    tcase_add_test(threads, signals_do_not_reach_a_thread);
    tcase_add_test(threads, a_wait_ends_at_its_deadline);
    suite_add_tcase(suite, threads);
    return run_suite(suite);
}
