/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static int open_with(const jfr_options *opts)
{
    return jfr_open_mem(&file, w.data, w.len, opts, &err);
}

static void setup(void)
{
    fixture_setup();
    write_simple_chunk();
}

START_TEST(refuses_wrong_options)
{
    options.size = 0;
    ck_assert_int_eq(open_with(&options), JFR_ERR_USAGE);
    options = (jfr_options)JFR_OPTIONS_INIT;
    options.flags = 1u << 30;
    ck_assert_int_eq(open_with(&options), JFR_ERR_USAGE);
    options = (jfr_options)JFR_OPTIONS_INIT;
    options.max_metadata_depth = 100000;
    ck_assert_int_eq(open_with(&options), JFR_ERR_USAGE);
    options = (jfr_options)JFR_OPTIONS_INIT;
    static const jfr_allocator half = {.alloc = NULL};
    options.allocator = &half;
    ck_assert_int_eq(open_with(&options), JFR_ERR_USAGE);
    ck_assert_ptr_null(file);
}
END_TEST

/* A caller built against a later or earlier header. */
START_TEST(options_of_other_sizes)
{
    struct {
        jfr_options known;
        uint64_t later;
    } newer = {.known = {.size = sizeof(newer)}};
    ck_assert_int_eq(open_with(&newer.known), 0);
    jfr_close(file);
    file = NULL;
    newer.later = 1;
    ck_assert_int_eq(open_with(&newer.known), JFR_ERR_USAGE);
    options.size = offsetof(jfr_options, max_chunks);
    options.max_chunks = 1; /* beyond the stated size: not read */
    write_simple_chunk();
    ck_assert_int_eq(open_with(&options), 0);
    next_chunk();
    next_chunk();
}
END_TEST

struct budget {
    long left; /* allocations that still succeed */
    long live; /* allocations not yet freed */
};

static void *limited_alloc(void *ctx, size_t size)
{
    struct budget *b = ctx;
    if (b->left-- <= 0)
        return NULL;
    b->live++;
    return malloc(size);
}

static void *limited_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    struct budget *b = ctx;
    (void)old_size;
    if (b->left-- <= 0)
        return NULL;
    b->live += ptr == NULL;
    return realloc(ptr, new_size);
}

static void limited_free(void *ctx, void *ptr)
{
    struct budget *b = ctx;
    b->live -= ptr != NULL;
    free(ptr);
}

static int read_all(void)
{
    jfr_sample s;
    jfr_stack stack;
    jfr_thread thread;
    int rc = open_with(&options);
    if (rc < 0)
        return rc;
    while (rc == 0 && (rc = jfr_next_chunk(file, &chunk, &err)) == 1) {
        while ((rc = jfr_samples_next(chunk, &s, &err)) == 1) {
            rc = jfr_chunk_stack(chunk, s.stack, &stack, &err);
            if (rc == 0)
                rc = jfr_chunk_thread(chunk, s.thread, &thread, &err);
            if (rc < 0)
                return rc;
        }
    }
    return rc;
}

/* Every allocation fails once: the error is always the same, and nothing leaks. */
START_TEST(survives_every_failed_allocation)
{
    struct budget budget;
    const jfr_allocator limited = {limited_alloc, limited_realloc, limited_free, &budget};
    options.allocator = &limited;
    int rc = JFR_ERR_NOMEM;
    long allowed = 0;
    for (; rc == JFR_ERR_NOMEM; allowed++) {
        budget = (struct budget){.left = allowed};
        rc = read_all();
        jfr_close(file);
        file = NULL;
        ck_assert_int_eq(budget.live, 0);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_int_gt(allowed, 10);
}
END_TEST

START_TEST(decoded_bytes_are_limited)
{
    options.max_decoded_bytes = 1000;
    ck_assert_int_eq(open_with(&options), 0);
    ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), JFR_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "max_decoded_bytes"));
    ck_assert_int_eq(loss().records[0].reason, JFR_LOSS_LIMIT);
    expect_end();
}
END_TEST

START_TEST(version_is_stated)
{
    ck_assert_int_gt((int)strlen(jfr_version()), 4);
}
END_TEST

START_TEST(reasons_have_names)
{
    for (int reason = JFR_LOSS_TRUNCATED; reason <= JFR_LOSS_BAD_GZIP; reason++)
        ck_assert_str_ne(jfr_loss_reason_name((jfr_loss_reason)reason), "unknown");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *t = tcase_create("options");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_add_test(t, refuses_wrong_options);
    tcase_add_test(t, options_of_other_sizes);
    tcase_add_test(t, survives_every_failed_allocation);
    tcase_add_test(t, decoded_bytes_are_limited);
    tcase_add_test(t, version_is_stated);
    tcase_add_test(t, reasons_have_names);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
