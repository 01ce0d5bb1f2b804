/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings while each allocation in turn fails: the error is reported, and all memory is
 * freed. */
#include <recording/recording.h>

#include "failing_memory.h"
#include "run_suite.h"

static const char *const files[] = {DATA_DIR "/async-profiler-4.5-jdk17.jfr.gz",
                                    DATA_DIR "/jdk25-all.jfr.gz"};

/* The requests, each of which is read in a different way. */
static void by_rows(recording_options *options)
{
    options->group = SAGG_BY_NONE;
    options->no_threads = true;
    options->no_alloc_objects = true;
}

static void by_thread_and_class(recording_options *options)
{
    options->facets = true;
    options->objects = true;
}

static void by_samples(recording_options *options)
{
    options->seconds = 600;
    options->origin_ns = INT64_C(1700000000000000000);
}

static void with_few_stacks(recording_options *options)
{
    options->max_stacks = 8;
    options->max_threads = 3;
}

static void (*const ways[])(recording_options *options) = {
    by_rows,
    by_thread_and_class,
    by_samples,
    with_few_stacks,
};

/* The sums of all types. */
static uint64_t seen;

static int read_file(const char *path, const recording_options *options, recording_error *err)
{
    recording *rec = NULL;
    int rc = recording_new(&rec, options, err);
    if (rc == 0)
        rc = recording_add_file(rec, path, err);
    const sagg *agg = rc == 0 ? recording_aggregate(rec) : NULL;
    seen = 0;
    for (uint32_t type = 0; agg != NULL && type < PROFILE_TYPE_END; type++)
        seen = seen * 31 + sagg_type_totals(agg, type).value;
    recording_free(rec);
    return rc == 0 && agg == NULL ? RECORDING_E_NOMEM : rc;
}

START_TEST(no_allocation_that_fails_harms_anything)
{
    const char *path = files[_i % ROWS(files)];
    recording_options options = RECORDING_OPTIONS_INIT;
    recording_error err = {0};
    ways[_i / ROWS(files)](&options);
    ck_assert_msg(read_file(path, &options, &err) == 0, "%s", err.message);
    const uint64_t wanted = seen;
    int rc = RECORDING_E_NOMEM;
    long failures = 0;
    for (long count = 0; rc != 0; count = memory_next(count), failures++) {
        err = (recording_error){0};
        memory_limit(count);
        rc = read_file(path, &options, &err);
        memory_lift();
        ck_assert_int_eq(rc, rc == 0 ? 0 : RECORDING_E_NOMEM);
    }
    ck_assert_int_gt(failures, 20);
    ck_assert_uint_eq(seen, wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_loop_test(tcase, no_allocation_that_fails_harms_anything, 0,
                        ROWS(ways) * ROWS(files));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
