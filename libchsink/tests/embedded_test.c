/* SPDX-License-Identifier: Apache-2.0 */
/* Tests properties of the embedded engine alone: its effect on the process. Each test runs in a
 * child of its own (check's fork mode) that has not opened the engine before. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_suite.h"
#include "target.h"

static chs_error err;

#define OK(call) ck_assert_msg((call) == 0, "%s", err.message)

static int open_at(chs_transport **out, const char *path, int readonly)
{
    chs_embedded_options options = CHS_EMBEDDED_OPTIONS_INIT;

    options.path = path;
    options.readonly = readonly;
    options.max_server_memory_usage = (uint64_t)2 << 30;
    return chs_embedded_open(out, &options, &err);
}

static int keep_number(void *context, const chs_result *block)
{
    chs_uints values;

    OK(chs_result_uints(&values, block, "n", &err));
    if (values.rows)
        *(uint64_t *)context = values.values[0];
    return 0;
}

static uint64_t ask(chs_transport *store, const char *sql)
{
    uint64_t number = UINT64_MAX;

    OK(chs_query(store, sql, NULL, keep_number, &number, &err));
    return number;
}

static int insert_rows(chs_transport *store, const char *table, uint64_t rows, const char *token)
{
    static const char *const columns[] = {"a"};
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    chs_block *block;
    chs_column *column;
    uint64_t i;
    int rc;

    if (chs_block_new(&block, NULL, &err) ||
        chs_block_add_column(&column, block, "a", "UInt64", &err))
        return -1;
    for (i = 0; i < rows; i++)
        (void)chs_append_uint(column, i);
    request.table = table;
    request.columns = columns;
    request.column_count = 1;
    request.token = token;
    rc = chs_block_encode(&request.block, block, &err);
    if (!rc)
        rc = chs_insert(store, &request, NULL, &err);
    chs_block_free(block);
    return rc;
}

START_TEST(says_what_to_do_without_the_library)
{
    chs_embedded_options options = CHS_EMBEDDED_OPTIONS_INIT;
    chs_transport *store;

    options.path = target_path();
    options.library = "/nonexistent/libchdb.so";
    ck_assert_int_eq(chs_embedded_open(&store, &options, &err), CHS_ERR_UNAVAILABLE);
    ck_assert_ptr_null(store);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/libchdb.so"));
    ck_assert_ptr_nonnull(strstr(err.message, "HOTSTACK_LIBCHDB"));
    ck_assert_ptr_nonnull(strstr(err.message, "ClickHouse server"));
    ck_assert_ptr_null(chs_embedded_version());
    options.library = "libz.so.1";
    ck_assert_int_eq(chs_embedded_open(&store, &options, &err), CHS_ERR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, "has no function chdb_"));
    options.path = NULL;
    ck_assert_int_eq(chs_embedded_open(&store, &options, &err), CHS_ERR_USAGE);
}
END_TEST

START_TEST(leaves_the_process_as_it_was)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGTERM, SIGINT, SIGPIPE, SIGCHLD, SIGUSR1};
    struct sigaction before[sizeof numbers / sizeof *numbers], after;
    sigset_t mask_before, mask_after;
    chs_transport *store;
    size_t i;
    int number;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sigaction(numbers[i], NULL, &before[i]);
    OK(open_at(&store, target_path(), 0));
    OK(chs_ping(store, NULL, &err));
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    for (number = 1; number < NSIG; number++)
        ck_assert_int_eq(sigismember(&mask_before, number), sigismember(&mask_after, number));
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], NULL, &after);
        ck_assert_ptr_eq((void *)(uintptr_t)before[i].sa_handler,
                         (void *)(uintptr_t)after.sa_handler);
    }
    ck_assert_ptr_nonnull(chs_embedded_version());
    chs_transport_close(store);
}
END_TEST

START_TEST(has_one_directory_per_process)
{
    char other[128];
    chs_transport *first, *second;

    (void)snprintf(other, sizeof other, "%s.other", target_path());
    OK(open_at(&first, target_path(), 0));
    ck_assert_int_eq(open_at(&second, other, 0), CHS_ERR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, target_path()));
    OK(open_at(&second, target_path(), 0));
    chs_transport_close(first);
    OK(chs_ping(second, NULL, &err));
    chs_transport_close(second);
    /* The last transport is closed: another directory can be opened. */
    OK(open_at(&first, other, 0));
    chs_transport_close(first);
    ck_assert_int_eq(open_at(&first, "/proc/nothing/here", 0), CHS_ERR_UNAVAILABLE);
}
END_TEST

START_TEST(keeps_its_data_over_a_close)
{
    chs_transport *store;

    OK(open_at(&store, target_path(), 0));
    OK(chs_exec(store, "CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a", NULL, &err));
    OK(insert_rows(store, "kept", 1000, NULL));
    chs_transport_close(store);
    OK(open_at(&store, target_path(), 0));
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM kept"), 1000);
    chs_transport_close(store);
}
END_TEST

START_TEST(readonly_changes_nothing)
{
    chs_setting threads = {"max_threads", "1"};
    chs_call call = CHS_CALL_INIT;
    chs_transport *store, *reader;
    uint64_t number = 0;

    OK(open_at(&store, target_path(), 0));
    OK(chs_exec(store, "CREATE TABLE fixed (a UInt64) ENGINE = MergeTree ORDER BY a", NULL, &err));
    OK(open_at(&reader, target_path(), 1));
    ck_assert_uint_eq(ask(reader, "SELECT count() AS n FROM fixed"), 0);
    ck_assert_int_eq(insert_rows(reader, "fixed", 1, NULL), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(err.server_code, 164);
    ck_assert_int_eq(chs_exec(reader, "DROP TABLE fixed", NULL, &err), CHS_ERR_SERVER_FINAL);
    ck_assert_int_eq(chs_exec(reader, "SELECT 1 SETTINGS max_threads = 3", NULL, &err),
                     CHS_ERR_SERVER_FINAL);
    /* A call's own settings still apply, because they are set when the session begins. */
    call.settings = &threads;
    call.setting_count = 1;
    OK(chs_query(reader, "SELECT getSetting('max_threads') + 0 AS n", &call, keep_number, &number,
                 &err));
    ck_assert_uint_eq(number, 1);
    chs_transport_close(reader);
    chs_transport_close(store);
}
END_TEST

START_TEST(sees_its_database)
{
    chs_embedded_options options = CHS_EMBEDDED_OPTIONS_INIT;
    chs_transport *store, *inside;

    OK(open_at(&store, target_path(), 0));
    OK(chs_exec(store, "CREATE DATABASE `od``d`", NULL, &err));
    options.path = target_path();
    options.database = "od`d";
    OK(chs_embedded_open(&inside, &options, &err));
    OK(chs_exec(inside, "CREATE TABLE there (a UInt64) ENGINE = MergeTree ORDER BY a", NULL, &err));
    OK(insert_rows(inside, "there", 3, NULL));
    ck_assert_uint_eq(ask(inside, "SELECT count() AS n FROM there"), 3);
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM `od``d`.there"), 3);
    chs_transport_close(inside);
    chs_transport_close(store);
}
END_TEST

static int make_table(chs_transport *store, const char *name)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE %s (a UInt64) ENGINE = MergeTree ORDER BY a "
                   "SETTINGS non_replicated_deduplication_window = 100",
                   name);
    return chs_exec(store, sql, NULL, &err);
}

/* Starts a child that opens the store, fills a new table if one is named, reports that through the
 * pipe, and waits to be killed. */
static pid_t start_writer(int *said, const char *table)
{
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        chs_transport *store;

        if (open_at(&store, target_path(), 0) ||
            (table &&
             (make_table(store, table) || insert_rows(store, table, 5000, "batch/killed"))))
            _exit(1);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(ends[1]);
    *said = ends[0];
    return child;
}

static void await_and_kill(pid_t child, int said)
{
    int status;

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    (void)close(said);
}

/* Kills a process that has filled a new table. */
static void fill_and_kill(const char *table)
{
    char word;
    int said;
    pid_t child = start_writer(&said, table);

    ck_assert_int_eq(read(said, &word, 1), 1);
    await_and_kill(child, said);
}

START_TEST(what_was_acknowledged_survives_a_kill)
{
    chs_transport *store;

    fill_and_kill("killed");
    OK(open_at(&store, target_path(), 0));
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM killed"), 5000);
    /* The window survives too: the retry of an in-doubt batch stores nothing twice. */
    OK(insert_rows(store, "killed", 5000, "batch/killed"));
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM killed"), 5000);
    chs_transport_close(store);
}
END_TEST

/* Leaves a table in the state after a kill between a token's record and the name of its part. */
static void lose_part(const char *table, const char *part)
{
    char command[512];

    (void)snprintf(command, sizeof command, "rm -r '%s/data/default/%s/%s'", target_path(), table,
                   part);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_kill_between_token_and_part_loses_nothing)
{
    chs_transport *store;

    fill_and_kill("cut");
    lose_part("cut", "all_1_1_0");
    OK(open_at(&store, target_path(), 0));
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM cut"), 0);
    OK(insert_rows(store, "cut", 5000, "batch/killed"));
    OK(insert_rows(store, "cut", 5000, "batch/killed"));
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM cut"), 5000);
    chs_transport_close(store);
}
END_TEST

START_TEST(a_directory_has_one_process)
{
    chs_transport *store;
    char word;
    int said;
    pid_t child = start_writer(&said, NULL);

    ck_assert_int_eq(read(said, &word, 1), 1);
    ck_assert_int_eq(open_at(&store, target_path(), 0), CHS_ERR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, "another process"));
    await_and_kill(child, said);
}
END_TEST

static void *insert_and_count(void *context)
{
    const char *token = context;
    chs_transport *store;
    int i;

    if (open_at(&store, target_path(), 0))
        return NULL;
    for (i = 0; i < 5; i++)
        if (insert_rows(store, "shared", 100, token))
            token = NULL;
    chs_transport_close(store);
    return (void *)(uintptr_t)token;
}

START_TEST(threads_use_transports_side_by_side)
{
    enum { THREADS = 4 };
    static char tokens[THREADS][8] = {"t0", "t1", "t2", "t3"};
    pthread_t threads[THREADS];
    chs_transport *store;
    void *done;
    int i;

    OK(open_at(&store, target_path(), 0));
    OK(make_table(store, "shared"));
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, insert_and_count, tokens[i]), 0);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_ptr_nonnull(done);
    }
    ck_assert_uint_eq(ask(store, "SELECT count() AS n FROM shared"), (uint64_t)100 * THREADS);
    chs_transport_close(store);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("libchsink-engine");
    TCase *tcase = tcase_create("engine");
    int code;

    target_start(argc, argv);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, says_what_to_do_without_the_library);
    tcase_add_test(tcase, leaves_the_process_as_it_was);
    tcase_add_test(tcase, has_one_directory_per_process);
    tcase_add_test(tcase, keeps_its_data_over_a_close);
    tcase_add_test(tcase, readonly_changes_nothing);
    tcase_add_test(tcase, sees_its_database);
    tcase_add_test(tcase, what_was_acknowledged_survives_a_kill);
    tcase_add_test(tcase, a_kill_between_token_and_part_loses_nothing);
    tcase_add_test(tcase, a_directory_has_one_process);
    tcase_add_test(tcase, threads_use_transports_side_by_side);
    suite_add_tcase(suite, tcase);
    code = run_suite(suite);
    target_stop();
    return code;
}
