/* Sessions on real JVMs of every version there is: found, started, read in windows, adopted,
 * stopped. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm_fixture.h"

#define TIMEOUT_MS 30000

static const char *const versions[] = {"11", "17", "21", "25"};

/* Recording bytes as they come. */
typedef struct collected {
    uint8_t *bytes;
    size_t n;
} collected;

static int collect(void *ctx, const uint8_t *bytes, size_t n)
{
    collected *c = ctx;
    c->bytes = realloc(c->bytes, c->n + n);
    ck_assert_ptr_nonnull(c->bytes);
    memcpy(c->bytes + c->n, bytes, n);
    c->n += n;
    return 0;
}

static uint64_t chunk_size(const uint8_t *header)
{
    uint64_t size = 0;
    for (int i = 8; i < 16; i++)
        size = size << 8 | header[i];
    return size;
}

/* How many whole JFR chunks the bytes are; fails when they are anything else. */
static int whole_chunks(const collected *c)
{
    size_t at = 0;
    int n = 0;
    while (at < c->n) {
        ck_assert_uint_ge(c->n - at, 68);
        ck_assert_mem_eq(c->bytes + at, "FLR\0", 4);
        ck_assert_uint_le(chunk_size(c->bytes + at), c->n - at);
        at += chunk_size(c->bytes + at);
        n++;
    }
    return n;
}

static attach_request *request_for(const jvm_fixture *jvm, attach_op op)
{
    attach_request *r = calloc(1, sizeof(*r));
    ck_assert_ptr_nonnull(r);
    r->op = op;
    r->identity = jvm->identity;
    r->timeout_ms = TIMEOUT_MS;
    r->offset = UINT64_MAX;
    r->alloc_bytes = 524288;
    r->lock_ns = 1000000;
    (void)snprintf(r->installation_id, sizeof(r->installation_id), "libattachtest");
    (void)snprintf(r->library, sizeof(r->library), "%s", jvm_fixture_profiler());
    return r;
}

static attach_result run(const jvm_fixture *jvm, attach_op op, collected *c)
{
    attach_result result;
    attach_request *r = request_for(jvm, op);
    ck_assert_int_eq(attachclient_run(&result, r, collect, c, NULL, NULL), result.code);
    free(r);
    return result;
}

static attach_result must(const jvm_fixture *jvm, attach_op op, collected *c)
{
    attach_result result = run(jvm, op, c);
    ck_assert_msg(result.code == ATTACH_OK, "op %d: %s: %s", (int)op,
                  attach_reason_name(result.reason), result.message);
    return result;
}

static const char *java_of(int i)
{
    return jvm_fixture_java(versions[i]);
}

START_TEST(listed_with_version_and_main_class)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    attach_jvm seen;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    ck_assert_int_eq(attach_jvm_read(&seen, jvm.identity.pid, NULL, NULL), ATTACH_OK);
    ck_assert_str_eq(seen.main_class, "Target");
    ck_assert_mem_eq(seen.version, versions[_i], strlen(versions[_i]));
    ck_assert_str_ne(seen.vendor, "");
    ck_assert_int_eq(seen.reason, ATTACH_REASON_NONE);
    ck_assert_int_eq(seen.ns_pid, jvm.identity.pid);
    ck_assert_uint_eq(seen.uid, geteuid());
    ck_assert_int_eq(seen.libc, ATTACH_LIBC_GLIBC);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(command_answers)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    collected text = {0};
    attach_result result;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    attach_request *r = request_for(&jvm, ATTACH_OP_COMMAND);
    (void)snprintf(r->command, sizeof(r->command), "jcmd");
    (void)snprintf(r->args[0], sizeof(r->args[0]), "VM.version");
    r->n_args = 1;
    ck_assert_int_eq(attachclient_run(&result, r, collect, &text, NULL, NULL), ATTACH_OK);
    ck_assert_int_eq(result.reply_code, 0);
    ck_assert_ptr_nonnull(memmem(text.bytes, text.n, "JDK ", 4));
    ck_assert_ptr_nonnull(memmem(text.bytes, text.n, versions[_i], 2));
    free(r);
    free(text.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(windows_without_stopping)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    collected recording = {0};
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    attach_result started = must(&jvm, ATTACH_OP_START, NULL);
    ck_assert_int_eq(started.info.state, ATTACH_AP_OWNED);
    ck_assert(started.info.running);
    ck_assert_int_ne(started.info.engine, ATTACH_AP_ENGINE_OFF);
    ck_assert_uint_eq(started.info.offset, 0);

    attach_result first = must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(whole_chunks(&recording), 1);
    ck_assert_uint_eq(first.info.offset, recording.n);
    attach_result second = must(&jvm, ATTACH_OP_WINDOW, &recording);
    ck_assert_int_eq(whole_chunks(&recording), 2);
    ck_assert_uint_eq(second.info.offset, recording.n);
    ck_assert_int_eq(must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_OWNED);
    (void)must(&jvm, ATTACH_OP_STOP, &recording);
    ck_assert_int_eq(whole_chunks(&recording), 3);
    ck_assert_ptr_nonnull(memmem(recording.bytes, recording.n, "burn", 4));

    ck_assert_int_eq(jvm_fixture_entries("/tmp", "hotstack-libattachtest-"), 0);
    ck_assert_int_eq(must(&jvm, ATTACH_OP_STATUS, NULL).info.state, ATTACH_AP_NONE);
    char *printed = jvm_fixture_output(&jvm);
    ck_assert_str_eq(printed, "ready\n");
    free(printed);
    free(recording.bytes);
    jvm_fixture_stop(&jvm);
}
END_TEST

START_TEST(one_library_however_often_started)
{
    if (java_of(_i) == NULL)
        return;
    jvm_fixture jvm;
    jvm_fixture_start(&jvm, java_of(_i), NULL, NULL);
    for (int round = 0; round < 3; round++) {
        collected recording = {0};
        (void)must(&jvm, ATTACH_OP_START, NULL);
        ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so"), 1);
        (void)must(&jvm, ATTACH_OP_STOP, &recording);
        ck_assert_int_eq(whole_chunks(&recording), 1);
        ck_assert_int_eq(jvm_fixture_entries("/tmp", "hotstack-libattachtest-"), 0);
        free(recording.bytes);
    }
    ck_assert_int_eq(jvm_fixture_mapped(&jvm, "libasyncProfiler.so (deleted)"), 1);
    jvm_fixture_stop(&jvm);
}
END_TEST

int main(void)
{
    int n = (int)(sizeof(versions) / sizeof(versions[0])), found = 0;
    for (int i = 0; i < n; i++)
        found += java_of(i) != NULL;
    if (found == 0 || jvm_fixture_profiler() == NULL) {
        (void)printf("1..0 # SKIP no %s: ./dev test installs them\n",
                     found == 0 ? "JDK" : "libasyncProfiler.so");
        return 0;
    }
    for (int i = 0; i < n; i++)
        if (java_of(i) == NULL)
            (void)printf("# JDK %s is missing here and stays untested\n", versions[i]);
    TCase *tc = tcase_create("session");
    tcase_set_timeout(tc, 180);
    tcase_add_loop_test(tc, listed_with_version_and_main_class, 0, n);
    tcase_add_loop_test(tc, command_answers, 0, n);
    tcase_add_loop_test(tc, windows_without_stopping, 0, n);
    tcase_add_loop_test(tc, one_library_however_often_started, 0, n);
    Suite *suite = suite_create("libattach-jvm-session");
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
