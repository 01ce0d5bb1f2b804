/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk whose events are read while it is opened: what comes of it is what one thread reads. */
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACKS = 6000, EVENTS = 3000, READERS = 2, PARTS = 5 };

static jfr_file *reader;
static jfr_chunk *peeked;
static jfr_sums *sums[READERS], *alone;

static void setup(void)
{
    fixture_setup();
    reader = NULL;
    memset(sums, 0, sizeof(sums));
    alone = NULL;
}

static void teardown(void)
{
    for (int i = 0; i < READERS; i++)
        jfr_sums_free(sums[i]);
    jfr_sums_free(alone);
    jfr_close(reader);
    fixture_teardown();
}

/* ---- recordings ---- */

/* What of the chunk is odd. */
enum odd {
    PLAIN,
    LATE_STATES,  /* states stand behind the stacks */
    LATE_SETTING, /* the text of a setting does */
    BAD_STACK,    /* runs over the checkpoint */
    BAD_SYMBOL,   /* behind the stacks */
    TOO_MANY,     /* entries behind the stacks: the chunk is refused */
    ODD_COUNT,
    OF_THE_JDK = ODD_COUNT,
    NO_STACKS,
    FEW_STACKS
};

/* As the standard pools have them, which are read later. */
static void put_states(void)
{
    static const char *const names[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING",
                                        "STATE_PARKED_TIMED"};
    begin_pool(&w, T_STATE, 4);
    for (uint64_t i = 0; i < 4; i++) {
        put_long(&w, i);
        put_text(&w, names[i]);
    }
}

static void put_stacks(uint64_t count, bool bad)
{
    begin_pool(&w, T_STACK, count);
    for (uint64_t i = 0; i < count; i++) {
        put_long(&w, 100 + i);
        put_u8(&w, 0);
        put_int(&w, bad && i == count / 2 ? 1 << 30 : 2);
        for (uint64_t k = 0; k < 2; k++) {
            put_long(&w, 1 + (i + k) % 3);
            put_int(&w, 300 + i);
            put_int(&w, 0);
            put_long(&w, (i + k) % 6);
        }
    }
}

static void put_interval(enum odd odd)
{
    put_setting(&w, T_RECORDING, "event", "cpu");
    put_setting(&w, T_EXECUTION, "wall", "50000000");
    if (odd != LATE_SETTING) {
        put_setting(&w, T_MONITOR_ENTER, "lock", "10000");
        return;
    }
    size_t event = begin_event(&w, T_SETTING);
    put_long(&w, 0);
    put_long(&w, w.base + (uint64_t)T_MONITOR_ENTER);
    put_text(&w, "lock");
    put_u8(&w, 2); /* of the pool of strings */
    put_long(&w, 8);
    end_event(&w, event);
}

static void put_pools(enum odd odd)
{
    size_t checkpoint = begin_checkpoint(&w);
    if (odd != LATE_STATES)
        put_states();
    if (odd != NO_STACKS)
        put_stacks(odd == FEW_STACKS ? 10 : STACKS, odd == BAD_STACK);
    if (odd == LATE_STATES)
        put_states();
    begin_pool(&w, T_STRING, odd == TOO_MANY ? INT32_MAX : 1);
    put_long(&w, 8);
    put_text(&w, "20000");
    begin_pool(&w, T_SYMBOL, 1);
    put_long(&w, 700);
    if (odd == BAD_SYMBOL)
        put_u8(&w, 3), put_int(&w, 100);
    else
        put_text(&w, "last");
    end_checkpoint(&w, checkpoint);
}

static void put_chunk(enum odd odd)
{
    params.async = odd != OF_THE_JDK;
    begin_chunk(&w, &params);
    put_interval(odd);
    for (uint64_t i = 0; i < EVENTS; i++) {
        put_execution(&w, 600 + i, 70 + i % 3, 90 + i * 7 % STACKS, i % 4);
        put_monitor_enter(&w, 600, 5000 + i % 9000, 4);
    }
    put_standard_pools(&w);
    put_pools(odd);
    end_chunk(&w, &params);
}

/* ---- reading ---- */

static void new_sums(void)
{
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(jfr_sums_new(&sums[i], NULL, &err), 0);
}

/* Opens a reader of the file, and its next chunk with it. */
static int peek(void)
{
    if (reader == NULL)
        ck_assert_int_eq(jfr_split_reader(&reader, file, &err), 0);
    return jfr_split_peek(reader, &peeked, &err);
}

/* Reads every second part with each of the sums from `first` on. */
static void read_some(const jfr_chunk *of, uint32_t first, uint32_t end, uint32_t parts)
{
    for (uint32_t i = first; i < end; i++) {
        parts_turn t = {i, READERS};
        ck_assert_int_eq(jfr_sums_parts(sums[i], of, parts, take_turn, &t, &err), 0);
    }
}

static bool is_row(const jfr_sum *a, const jfr_sum *b)
{
    return a->stack == b->stack && a->thread == b->thread && a->klass == b->klass &&
           a->source == b->source && a->state == b->state && a->lock_kind == b->lock_kind &&
           a->value_count == b->value_count && a->values[0].type == b->values[0].type;
}

/* Adds a row to those from `begin` on, behind the others when it is new. Returns their end. */
static size_t add_row(jfr_sum *rows, size_t begin, size_t end, const jfr_sum *row)
{
    size_t i = begin;
    while (i < end && !is_row(&rows[i], row))
        i++;
    if (i == end) {
        rows[end] = *row;
        return end + 1;
    }
    rows[i].samples += row->samples;
    for (int n = 0; n < row->value_count; n++) {
        rows[i].values[n].raw += row->values[n].raw;
        rows[i].values[n].value += row->values[n].value;
    }
    return end;
}

enum { MOST_ROWS = 4 * EVENTS };

/* All rows, by their stacks, each once. */
static size_t sorted_rows(jfr_sums *const *of, uint32_t count, jfr_sum *rows)
{
    uint32_t stacks = jfr_chunk_stack_count(chunk);
    uint32_t *begins = calloc(stacks + 2, sizeof(*begins));
    uint32_t *order = calloc(MOST_ROWS, sizeof(*order));
    size_t used = 0;
    ck_assert(begins != NULL && order != NULL);
    ck_assert_uint_le(jfr_sums_count(of, count), MOST_ROWS);
    jfr_sums_sort(of, count, stacks, begins, order);
    for (uint32_t group = 0; group <= stacks; group++) {
        size_t begin = used;
        for (uint32_t i = begins[group]; i < begins[group + 1]; i++) {
            jfr_sum row = {0};
            jfr_sums_pick(of, &order[i], 1, &row);
            used = add_row(rows, begin, used, &row);
        }
    }
    free(begins);
    free(order);
    return used;
}

static void must_be_as_by_one(void)
{
    static jfr_sum a[MOST_ROWS], b[MOST_ROWS];
    size_t used = sorted_rows(&alone, 1, a);
    ck_assert_uint_gt(used, EVENTS / 4);
    ck_assert_uint_eq(sorted_rows(sums, READERS, b), used);
    for (size_t i = 0; i < used; i++) {
        ck_assert(is_row(&a[i], &b[i]));
        ck_assert_uint_eq(a[i].samples, b[i].samples);
        for (int n = 0; n < a[i].value_count; n++) {
            ck_assert_uint_eq(a[i].values[n].raw, b[i].values[n].raw);
            ck_assert_uint_eq(a[i].values[n].value, b[i].values[n].value);
        }
    }
}

static void must_lose_as(const jfr_loss *a)
{
    jfr_loss b = loss();
    ck_assert_uint_eq(a->record_count, b.record_count);
    ck_assert_uint_eq(a->bytes_lost, b.bytes_lost);
    ck_assert_uint_eq(a->chunks_lost, b.chunks_lost);
    ck_assert_uint_eq(a->chunks_partial, b.chunks_partial);
    ck_assert_uint_eq(a->chunks_whole, b.chunks_whole);
    ck_assert_mem_eq(a->records, b.records, a->record_count * sizeof(*a->records));
}

/* ---- tests ---- */

/* The odd chunk is the second one: the first states an interval that it would take over. */
START_TEST(events_of_a_peeked_chunk_are_those_of_the_open_one)
{
    enum odd odd = (enum odd)(_i % ODD_COUNT);
    uint32_t by_peeked = 1 + (uint32_t)(_i / ODD_COUNT); /* of the sums */
    jfr_chunk_stats told;
    jfr_sums_stats sum_stats;
    put_chunk(PLAIN);
    put_chunk(odd);
    put_chunk(PLAIN);
    open_first_chunk();
    int opened = jfr_next_chunk(file, &chunk, &err);
    ck_assert_int_eq(opened, odd == TOO_MANY ? JFR_ERR_LIMIT : 1);
    ck_assert_int_eq(jfr_sums_new(&alone, NULL, &err), 0);
    if (opened == 1)
        ck_assert_int_eq(jfr_sums_fill(alone, chunk, &err), 0);
    if (opened == 1)
        told = stats();
    jfr_file *first = file;
    jfr_chunk *first_chunk = chunk;
    jfr_loss lost = loss();

    open_first_chunk();
    new_sums();
    ck_assert_int_eq(peek(), 1);
    ck_assert_uint_eq(jfr_chunk_get_info(peeked)->offset, jfr_chunk_get_info(first_chunk)->offset);
    read_some(peeked, READERS - by_peeked, READERS, PARTS);
    jfr_chunk *later = chunk;
    ck_assert_int_eq(jfr_next_chunk(file, &later, &err), opened);
    if (opened == 1) {
        chunk = later;
        read_some(chunk, 0, READERS - by_peeked, PARTS);
        for (int i = 0; i < READERS; i++)
            ck_assert_int_eq(jfr_sums_settle(sums[i], chunk, &err), 0);
        jfr_close(reader);
        reader = NULL;
        ck_assert_int_eq(jfr_sums_join(sums, READERS, chunk, &err), 0);
        jfr_sums_get_stats(sums[0], &sum_stats);
        ck_assert_uint_eq(sum_stats.reread, odd == LATE_STATES || odd == LATE_SETTING);
        jfr_chunk_stats now = stats();
        ck_assert_mem_eq(&told, &now, sizeof(now));
        must_be_as_by_one();
    }
    must_lose_as(&lost);
    ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), 1);
    expect_end();
    jfr_close(first);
}
END_TEST

START_TEST(what_gains_nothing_is_not_peeked)
{
    static const enum odd odds[] = {OF_THE_JDK, NO_STACKS, FEW_STACKS, PLAIN, PLAIN};
    put_chunk(odds[_i]);
    if (_i == 3)
        w.len--; /* cut */
    if (_i == 4)
        w.data[68 + 3] = 0x7F; /* the metadata's size */
    open_written();
    int rc = peek();
    ck_assert_int_eq(rc, _i == 4 ? JFR_ERR_FORMAT : 0);
    ck_assert_int_eq(jfr_next_chunk(reader, &chunk, &err), 0); /* it is the file's */
    ck_assert_int_eq(jfr_next_chunk(file, &chunk, &err), _i < 3);
    ck_assert_int_eq(peek(), 0); /* the recording's end */
}
END_TEST

/* Memory that ends at some allocation, and is there again behind it. */
static int left;

static void *scarce_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return left-- == 0 ? NULL : malloc(size);
}

static void *scarce_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return left-- == 0 ? NULL : realloc(ptr, new_size);
}

static void scarce_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

static const jfr_allocator scarce = {scarce_alloc, scarce_realloc, scarce_free, NULL};

START_TEST(without_memory_the_chunk_is_opened_even_so)
{
    int rc = 0, failed = 0;
    put_chunk(PLAIN);
    options.allocator = &scarce;
    for (int at = 0; rc != 1; at++) {
        left = -1;
        open_written();
        ck_assert_int_eq(jfr_split_reader(&reader, file, &err), 0);
        left = at;
        rc = peek();
        failed += rc < 0;
        ck_assert(rc == 1 || rc == JFR_ERR_NOMEM);
        left = -1;
        next_chunk();
        ck_assert_uint_ge(jfr_chunk_stack_count(chunk), STACKS);
        ck_assert_uint_eq(loss().record_count, 0);
        jfr_close(reader);
        jfr_close(file);
        reader = NULL;
        file = NULL;
    }
    ck_assert_int_gt(failed, 3);
}
END_TEST

START_TEST(sums_without_memory_to_settle_fail)
{
    jfr_sums_options given = JFR_SUMS_OPTIONS_INIT;
    given.allocator = &scarce;
    put_chunk(PLAIN);
    open_written();
    left = -1;
    ck_assert_int_eq(jfr_sums_new(&sums[0], &given, &err), 0);
    ck_assert_int_eq(peek(), 1);
    read_some(peeked, 0, 1, 1);
    next_chunk();
    left = 0;
    ck_assert_int_eq(jfr_sums_settle(sums[0], chunk, &err), JFR_ERR_NOMEM);
    ck_assert_int_eq(jfr_sums_join(sums, 1, chunk, &err), JFR_ERR_NOMEM);
    ck_assert_uint_eq(jfr_sums_count(sums, 1), 0);
    ck_assert_uint_gt(next_sample().value_count, 0);
}
END_TEST

START_TEST(mistakes_are_refused)
{
    put_chunk(PLAIN);
    put_chunk(PLAIN);
    open_written();
    new_sums();
    ck_assert_int_eq(jfr_split_peek(file, &peeked, &err), JFR_ERR_USAGE);
    ck_assert_int_eq(peek(), 1);
    read_some(peeked, 0, 1, 1);
    ck_assert_int_eq(jfr_sums_join(sums, 1, peeked, &err), JFR_ERR_USAGE);
    next_chunk();
    ck_assert_int_eq(jfr_sums_join(sums, 1, chunk, &err), JFR_ERR_USAGE);   /* not settled */
    ck_assert_int_eq(jfr_sums_settle(sums[1], chunk, &err), JFR_ERR_USAGE); /* of no chunk */
    next_chunk();
    ck_assert_int_eq(jfr_sums_settle(sums[0], chunk, &err), JFR_ERR_USAGE); /* of another one */
}
END_TEST

/* The bytes of a file's mapping that are in this process's memory (proc_pid_smaps(5)). */
static size_t resident(const char *path)
{
    char line[512];
    bool ours = false;
    size_t kib = 0, all = 0;
    FILE *maps = fopen("/proc/self/smaps", "re");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (strchr(line, '-') != NULL && strchr(line, '-') < strchr(line, ' '))
            ours = strstr(line, path) != NULL;
        if (ours && sscanf(line, "Rss: %zu kB", &kib) == 1)
            all += kib << 10;
    }
    (void)fclose(maps);
    return all;
}

/* The few: two stretches that are being read, and pools. */
enum { MANY_EVENTS = 1600000, FEW_BYTES = 9 << 20 };

START_TEST(pages_that_a_reader_has_read_are_given_back)
{
    char path[] = "/tmp/jfr-peek-test-XXXXXX";
    params.async = true;
    begin_chunk(&w, &params);
    for (uint64_t i = 0; i < MANY_EVENTS; i++)
        put_execution(&w, 600 + i, 70 + i % 3, 90 + i * 7 % STACKS, i % 4);
    put_standard_pools(&w);
    put_pools(PLAIN);
    end_chunk(&w, &params);
    ck_assert_uint_gt(w.len, FEW_BYTES);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, w.data, w.len), (ssize_t)w.len);
    (void)close(fd);
    ck_assert_int_eq(jfr_open_file(&file, path, &options, &err), 0);
    ck_assert_int_eq(peek(), 1);
    new_sums();
    read_some(peeked, 0, 1, 1);
    size_t bytes = resident(path);
    (void)unlink(path);
    ck_assert_uint_lt(bytes, FEW_BYTES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peek");
    TCase *t = tcase_create("peek");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, events_of_a_peeked_chunk_are_those_of_the_open_one, 0, 2 * ODD_COUNT);
    tcase_add_loop_test(t, what_gains_nothing_is_not_peeked, 0, 5);
    tcase_add_test(t, without_memory_the_chunk_is_opened_even_so);
    tcase_add_test(t, sums_without_memory_to_settle_fail);
    tcase_add_test(t, mistakes_are_refused);
    tcase_add_test(t, pages_that_a_reader_has_read_are_given_back);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
