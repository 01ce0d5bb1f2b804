/* SPDX-License-Identifier: Apache-2.0 */
/* Ingests a batch while each allocation in turn fails: the collector is asked to retry, and never
 * told that its batch is wrong, and all memory is freed. */
#include <stdio.h>
#include <stdlib.h>

#include "failing_memory.h"
#include "ingest_plan.h"
#include "run_suite.h"
#include <contract/check.h>
#include <contract/wire/decode.h>

static char data[8192];
static size_t size;

static void load_batch(void)
{
    FILE *file = fopen(CORPUS "/ingest/whole", "rb");
    ck_assert_ptr_nonnull(file);
    size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);
    ck_assert_uint_gt(size, 0);
    ck_assert_uint_lt(size, sizeof(data));
}

/* The allocation of the plan succeeded, too. */
static bool is_planned;

static int take_in(verdict *v)
{
    static const ingest_limits limits = LIMITS_INIT;
    proto_decoded *decoded = NULL;
    profile_batch batch;
    ingest_plan plan;
    int rc = proto_decode_batch(&decoded, &batch, data, size, v);
    if (rc == 0)
        rc = check_profile_batch(&batch, &limits, (uint64_t)batch.day * DAY_MS + DAY_MS / 2, v);
    if (rc == 0) {
        is_planned = ingest_plan_make(&plan, &batch) == 0;
        ingest_plan_free(&plan);
    }
    profile_batch_clear(&batch);
    proto_decoded_free(decoded);
    return rc;
}

START_TEST(a_batch_without_memory_is_put_off)
{
    verdict v = {.code = ""};
    load_batch();
    ck_assert_msg(take_in(&v) == 0, "%s", v.message);
    int rc = -1;
    long failures = 0;
    is_planned = false;
    for (long count = 0; !is_planned; count = memory_next(count), failures++) {
        v = (verdict){.code = ""};
        memory_limit(count);
        rc = take_in(&v);
        memory_lift();
        ck_assert_msg(rc == 0 || v.outcome == OUTCOME_RETRY, "%ld allocations: %s, %s", count,
                      v.code, v.message);
        ck_assert(rc == 0 || v.retry_after_ms > 0);
        verdict_clear(&v);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_int_gt(failures, 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_test(tcase, a_batch_without_memory_is_put_off);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
