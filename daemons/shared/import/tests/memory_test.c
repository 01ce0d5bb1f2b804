/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profiles while each allocation in turn fails: the error is reported, and all memory is
 * freed. */
#include <import/import.h>
#include <stdio.h>

#include "failing_memory.h"
#include "run_suite.h"

static const struct {
    const char *path;
    enum profile_type type;
    enum import_kind kind;
} inputs[] = {
    {CORPUS "/collapsed/good", PROFILE_TYPE_CPU, IMPORT_COLLAPSED},
    {CORPUS "/pprof/good", PROFILE_TYPE_NONE, IMPORT_PPROF},
    {CORPUS "/pprof/packed", PROFILE_TYPE_NONE, IMPORT_PPROF},
};

/* The bytes of an input. */
static char data[4096];
static size_t size;

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);
    ck_assert_uint_gt(size, 0);
    ck_assert_uint_lt(size, sizeof(data));
}

/* The sums of all types. */
static uint64_t seen;

static int read_input(enum profile_type type, recording_error *err)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    import_options limits = IMPORT_OPTIONS_INIT;
    recording *rec = NULL;
    limits.type = type;
    int rc = recording_new(&rec, &options, err);
    if (rc == 0)
        rc = type != PROFILE_TYPE_NONE ? import_collapsed(rec, data, size, &limits, err)
                                       : import_pprof(rec, data, size, &limits, NULL, err);
    const sagg *agg = rc == 0 ? recording_aggregate(rec) : NULL;
    seen = 0;
    for (uint32_t each = 0; agg != NULL && each < PROFILE_TYPE_END; each++)
        seen = seen * 31 + sagg_type_totals(agg, each).value;
    recording_free(rec);
    return rc == 0 && agg == NULL ? RECORDING_E_NOMEM : rc;
}

START_TEST(no_allocation_that_fails_harms_anything)
{
    recording_error err = {0};
    load(inputs[_i].path);
    ck_assert_int_eq(import_kind_of(data, size), inputs[_i].kind);
    ck_assert_msg(read_input(inputs[_i].type, &err) == 0, "%s", err.message);
    const uint64_t wanted = seen;
    ck_assert_uint_gt(wanted, 0);
    int rc = RECORDING_E_NOMEM;
    long failures = 0;
    for (long count = 0; rc != 0; count = memory_next(count), failures++) {
        err = (recording_error){0};
        memory_limit(count);
        rc = read_input(inputs[_i].type, &err);
        memory_lift();
        ck_assert_msg(rc == 0 || rc == RECORDING_E_NOMEM, "%ld: %s", count, err.message);
        ck_assert(rc == 0 || err.code == 0 || err.message[0] != '\0');
    }
    ck_assert_int_gt(failures, 20);
    ck_assert_uint_eq(seen, wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_loop_test(tcase, no_allocation_that_fails_harms_anything, 0, ROWS(inputs));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
