/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the repair of the deduplication logs that a killed engine left; the engine itself:
 * embedded_test.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/tokens_impl.h"
#include "run_suite.h"

#define TABLE "store/a1b/a1b2"
#define LOG   TABLE "/deduplication_logs/deduplication_log_1.txt"

enum { LOG_MAX = 256 * 1024 };

static char root[] = "/tmp/hotstack-tokens-XXXXXX";
static char log_text[LOG_MAX];
static chs_error err;

static const char *in_root(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void make_directory(const char *name)
{
    ck_assert_int_eq(mkdir(in_root(name), 0700), 0);
}

static void write_bytes(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(in_root(name), "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static const char *read_file(const char *name)
{
    FILE *file = fopen(in_root(name), "r");
    size_t length;

    ck_assert_ptr_nonnull(file);
    length = fread(log_text, 1, sizeof log_text - 1, file);
    log_text[length] = '\0';
    (void)fclose(file);
    return log_text;
}

/* Makes a store of one table whose process was killed. */
static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    make_directory("store");
    make_directory("store/a1b");
    make_directory(TABLE);
    make_directory(TABLE "/deduplication_logs");
    write_file("status", "PID: 1\n");
    write_file("store/a1b/notes", "no table");
}

static void teardown(void)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
}

static void settle(void)
{
    ck_assert_msg(chs__tokens_settle(root, &err) == 0, "%s", err.message);
}

static const struct {
    const char *parts[3];
    const char *before;
    const char *added; /* NULL: the log stays as it is */
} cases[] = {
    {{"all_1_1_0"}, "1\tall_1_1_0\tx\n", NULL},
    {{NULL}, "1\tall_1_1_0\tx\n", "2\tall_1_1_0\tx\n"},
    {{"all_1_1_0"}, "1\tall_1_1_0\tx\n1\tall_2_2_0\ty\n", "2\tall_2_2_0\ty\n"},
    /* merged, and merged under a mutation */
    {{"all_1_5_1"}, "1\tall_1_1_0\tx\n1\tall_5_5_0\ty\n", NULL},
    {{"all_1_5_1_7"}, "1\tall_5_5_0\ty\n", NULL},
    {{"all_1_4_1"}, "1\tall_5_5_0\ty\n", "2\tall_5_5_0\ty\n"},
    /* the same blocks of another day */
    {{"20261121_3_3_0"}, "1\t20261122_3_3_0\ty\n", "2\t20261122_3_3_0\ty\n"},
    {{"2026112_3_3_0"}, "1\t20261122_3_3_0\ty\n", "2\t20261122_3_3_0\ty\n"},
    /* one insert records two tokens for one part; earlier records stay */
    {{"all_1_1_0"},
     "1\tall_1_1_0\tx\n1\tall_2_2_0\ty\n1\tall_2_2_0\tz\n",
     "2\tall_2_2_0\tz\n2\tall_2_2_0\ty\n"},
    {{"all_2_2_0"}, "1\tall_1_1_0\tx\n1\tall_2_2_0\ty\n", NULL},
    /* withdrawn already */
    {{NULL}, "1\tall_1_1_0\tx\n2\tall_1_1_0\tx\n", NULL},
    /* a part being written has no such name */
    {{"tmp_insert_all_1_1_0"}, "1\tall_1_1_0\tx\n", "2\tall_1_1_0\tx\n"},
    /* unknown content */
    {{NULL}, "", NULL},
    {{NULL}, "\n", NULL},
    {{NULL}, "1\n", NULL},
    {{NULL}, "1\tall_1_1_0\n", NULL},
    {{NULL}, "3\tall_1_1_0\tx\n", NULL},
    {{NULL}, "1\tpart\tx\n", NULL},
    {{NULL}, "1\t_1_1_0\tx\n", NULL},
};

START_TEST(tokens_without_a_part_are_withdrawn)
{
    char wanted[512];
    size_t i;

    write_file(LOG, cases[_i].before);
    for (i = 0; i < 3 && cases[_i].parts[i]; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, TABLE "/%s", cases[_i].parts[i]);
        make_directory(name);
    }
    settle();
    (void)snprintf(wanted, sizeof wanted, "%s%s", cases[_i].before,
                   cases[_i].added ? cases[_i].added : "");
    ck_assert_str_eq(read_file(LOG), wanted);
    settle();
    ck_assert_str_eq(read_file(LOG), wanted);
}
END_TEST

START_TEST(a_torn_record_is_cut_off)
{
    make_directory(TABLE "/all_1_1_0");
    write_file(LOG, "1\tall_1_1_0\tx\n1\tall_2_");
    settle();
    ck_assert_str_eq(read_file(LOG), "1\tall_1_1_0\tx\n");
    write_file(LOG, "1\tall_2_");
    settle();
    ck_assert_str_eq(read_file(LOG), "");
}
END_TEST

START_TEST(a_new_empty_file_takes_the_record_of_the_one_before)
{
    write_file(LOG, "1\tall_1_1_0\tx\n");
    write_file(TABLE "/deduplication_logs/deduplication_log_10.txt", "");
    write_file(TABLE "/deduplication_logs/deduplication_log_9.txt", "");
    settle();
    ck_assert_str_eq(read_file(LOG), "1\tall_1_1_0\tx\n");
    ck_assert_str_eq(read_file(TABLE "/deduplication_logs/deduplication_log_10.txt"),
                     "2\tall_1_1_0\tx\n");
}
END_TEST

START_TEST(a_long_log_is_read_from_its_end)
{
    static char text[LOG_MAX / 2];
    size_t length = 0;

    while (length < sizeof text - 64)
        length += (size_t)snprintf(text + length, 64, "1\tall_1_1_0\tblock-%zu\n", length);
    length += (size_t)snprintf(text + length, 64, "1\tall_2_2_0\tlast\n1\tall_3_");
    write_bytes(LOG, text, length);
    make_directory(TABLE "/all_1_1_0");
    settle();
    (void)snprintf(text + length - strlen("1\tall_3_"), 64, "2\tall_2_2_0\tlast\n");
    ck_assert_str_eq(read_file(LOG), text);
}
END_TEST

START_TEST(bytes_that_are_no_log_stay)
{
    static char text[LOG_MAX / 2];

    memset(text, 'x', sizeof text);
    write_bytes(LOG, text, sizeof text);
    settle();
    ck_assert_uint_eq(strlen(read_file(LOG)), sizeof text);
}
END_TEST

START_TEST(an_ended_or_running_engine_is_left_alone)
{
    static const char orphan[] = "1\tall_1_1_0\tx\n";
    int held;

    write_file(LOG, orphan);
    held = open(in_root("status"), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(flock(held, LOCK_EX | LOCK_NB), 0);
    settle();
    ck_assert_str_eq(read_file(LOG), orphan);
    (void)close(held);
    ck_assert_int_eq(unlink(in_root("status")), 0);
    settle();
    ck_assert_str_eq(read_file(LOG), orphan);
}
END_TEST

START_TEST(a_log_that_cannot_be_opened_is_named)
{
    ck_assert_int_eq(symlink("/etc/passwd", in_root(LOG)), 0);
    ck_assert_int_eq(chs__tokens_settle(root, &err), CHS_ERR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, root));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("libchsink-tokens");
    TCase *tcase = tcase_create("tokens");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, tokens_without_a_part_are_withdrawn, 0, ROWS(cases));
    tcase_add_test(tcase, a_torn_record_is_cut_off);
    tcase_add_test(tcase, a_new_empty_file_takes_the_record_of_the_one_before);
    tcase_add_test(tcase, a_long_log_is_read_from_its_end);
    tcase_add_test(tcase, bytes_that_are_no_log_stay);
    tcase_add_test(tcase, an_ended_or_running_engine_is_left_alone);
    tcase_add_test(tcase, a_log_that_cannot_be_opened_is_named);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
