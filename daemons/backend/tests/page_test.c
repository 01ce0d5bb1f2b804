/* SPDX-License-Identifier: Apache-2.0 */
/* Batches that come as pages, over a store that is only remembered. */
#include <batchform/book.h>
#include <check.h>
#include <stackagg/stackagg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_api.h"
#include "run_suite.h"

enum { DAY = 20000, ROWS = 3 };

static const uint64_t now_in_ms = UINT64_C(86400000) * DAY + 43200000;

/* What was written, and what the store shall answer. */
static struct {
    ledger_entry ledger;
    bool forgets; /* it knows no stack that a batch does not bring */
    bool fails;
    unsigned writes;
    size_t stacks, rows;
} stored;

static int find_batch(void *self, const uint8_t id[16], ledger_entry *out, store_error *err)
{
    (void)self, (void)id, (void)err;
    *out = stored.ledger;
    return 0;
}

static int find_stacks(void *self, const service_key *service, uint32_t day,
                       const uint8_t *const *ids, size_t count, bool *known, store_error *err)
{
    (void)self, (void)service, (void)day, (void)ids, (void)err;
    for (size_t i = 0; i < count; i++)
        known[i] = !stored.forgets;
    return 0;
}

static int write_batch(void *self, const batch_write *w, store_error *err)
{
    (void)self;
    if (stored.fails) {
        err->code = STORE_ERR_BUSY;
        err->message[0] = '\0';
        return STORE_ERR_BUSY;
    }
    stored.writes++;
    stored.stacks = w->stack_count;
    stored.rows = w->batch->samples.window.count;
    return 0;
}

static int run_now(void *self, void (*job)(void *arg), void *arg)
{
    (void)self;
    job(arg);
    return 0;
}

static uint64_t now(void *clock)
{
    (void)clock;
    return now_in_ms;
}

static const store_ops ops = {
    .find_batch = find_batch, .find_stacks = find_stacks, .write_batch = write_batch};
static const writer_ops writer = {run_now};
static api server;
static book_writer *book_of_collector;
static Hotstack__V1__Collector collector = HOTSTACK__V1__COLLECTOR__INIT;

static void set_up(void)
{
    static char cluster[] = "east";
    static char name[] = "node-1";
    memset(&stored, 0, sizeof(stored));
    collector.cluster = cluster;
    collector.node = collector.instance = name;
    server.ingest =
        (ingest){.store = {&ops, NULL}, .writer = &writer, .limits = LIMITS_INIT, .now_ms = now};
    server.books = books_new(1 << 20, 60000);
    server.room.most = 1 << 28;
    book_of_collector = book_writer_new(7);
    ck_assert_ptr_nonnull(server.books);
    ck_assert_ptr_nonnull(book_of_collector);
}

static void tear_down(void)
{
    book_writer_free(book_of_collector);
    books_free(server.books);
}

/* ---- what a collector sends ---- */

static uint32_t add_text(string_table *to, const char *words)
{
    uint32_t index = 0;
    ck_assert_int_eq(string_table_add(to, words, strlen(words), &index), 0);
    return index;
}

static uint32_t add_stack(batch *one, uint32_t line)
{
    string_table words = {0};
    profile_frame frame = {.line = line};
    const uint32_t numbers[] = {0};
    profile_stack stack = {.normaliser = SAGG_NORMALISE_V1, .depth = 1};
    const sagg_frame named = {.class_name = {"shop.Cart", 9}, .method = {"total", 5}, .line = line};
    sagg_stack_id id;
    uint32_t index = 0;
    frame.class_name = add_text(&words, "shop.Cart");
    frame.method = add_text(&words, "total");
    ck_assert_int_eq(sagg_stack_id_of(&id, &named, 1, SAGG_NORMALISE_V1, NULL), 0);
    memcpy(stack.id, id.bytes, sizeof(stack.id));
    const frame_source source = {&words, &frame, numbers};
    ck_assert_int_eq(batch_add_stack(one, &source, &stack, &index), 0);
    string_table_clear(&words);
    return index;
}

static void make_batch(batch *one, uint8_t number, uint32_t first_line)
{
    static batch_target target;
    static batch_window window;
    uint8_t id[BATCH_ID_SIZE] = {number};
    batch_begin(one, id, DAY);
    one->created_ms = now_in_ms;
    target = (batch_target){.host_pid = 7, .start_ticks = 5};
    target.workload_str = add_text(&one->strings, "shop");
    target.boot_id_str = add_text(&one->strings, "01234567-89ab-cdef-0123-456789abcdef");
    window = (batch_window){.start_ms = now_in_ms - 60000 + number,
                            .length_ms = 10000,
                            .covered_ms = 9000,
                            .totals = {.type = 1, .interval = 10}};
    window.engine_str = add_text(&one->strings, "ctimer");
    one->targets = calloc(1, sizeof(target));
    one->windows = calloc(1, sizeof(window));
    one->rows = calloc(ROWS, sizeof(*one->rows));
    ck_assert(one->targets != NULL && one->windows != NULL && one->rows != NULL);
    for (uint32_t i = 0; i < ROWS; i++) {
        one->rows[i] = (batch_row){.stack = add_stack(one, first_line + i),
                                   .raw_value = 10 * (i + 1),
                                   .value = 10 * (i + 1),
                                   .samples = i + 1};
        window.totals.samples += i + 1;
        window.totals.raw_total += 10 * (i + 1);
        window.totals.value_total += 10 * (i + 1);
    }
    one->targets[0] = target;
    one->windows[0] = window;
    one->target_count = one->window_count = 1;
    one->row_count = ROWS;
    ck_assert_int_eq(batch_order(one), 0);
}

/* A batch as the next page of the collector's book, encoded. */
typedef struct sent {
    uint8_t *bytes;
    size_t length;
} sent;

static sent write_page(uint8_t number, uint32_t first_line)
{
    batch one;
    sent out = {NULL, 0};
    uint8_t *body = NULL;
    size_t length = 0;
    uint8_t digest[16];
    make_batch(&one, number, first_line);
    ck_assert_int_eq(batch_pack_body(&one, &collector, &body, &length), 0);
    batch_digest(digest, body, length);
    ck_assert_int_eq(
        book_write(book_of_collector, &one, &collector, digest, &out.bytes, &out.length), 0);
    free(body);
    batch_clear(&one);
    return out;
}

/* What the backend answers; *code its code. */
static outcome send(const sent *what, const scope *allowed, char code[32])
{
    proto_decoded *decoded = NULL;
    profile_batch plain;
    proto_page page;
    verdict v = {.code = ""};
    size_t taken = 0;
    ck_assert_int_eq(proto_decode_batch(&decoded, &plain, &page, what->bytes, what->length, &v), 0);
    ck_assert_uint_gt(page.content.length, 0);
    bool is_allowed = page_take(&server, &page, allowed, &taken, &v);
    room_give(&server.room, taken);
    (void)snprintf(code, 32, "%s", is_allowed ? v.code : "forbidden");
    outcome got = v.outcome;
    verdict_clear(&v);
    proto_decoded_free(decoded);
    return got;
}

static void expect(const sent *what, outcome wanted, const char *wanted_code)
{
    static const scope everything;
    char code[32];
    outcome got = send(what, &everything, code);
    ck_assert_msg(got == wanted, "%s, not %s: %s", outcome_name(got), outcome_name(wanted), code);
    ck_assert_str_eq(code, wanted_code);
    ck_assert_uint_eq(server.room.taken, 0);
}

START_TEST(pages_are_stored_with_what_they_bring)
{
    sent first = write_page(1, 10);
    sent second = write_page(2, 11);
    expect(&first, OUTCOME_ACCEPTED, "");
    ck_assert_uint_eq(stored.rows, ROWS);
    ck_assert_uint_eq(stored.stacks, ROWS);
    expect(&second, OUTCOME_ACCEPTED, "");
    ck_assert_uint_eq(stored.rows, ROWS);
    ck_assert_uint_eq(stored.stacks, 1);
    expect(&second, OUTCOME_DUPLICATE, "");
    ck_assert_uint_eq(stored.writes, 2);
    free(first.bytes);
    free(second.bytes);
}
END_TEST

START_TEST(stacks_that_the_store_misses_come_from_the_book)
{
    sent first = write_page(1, 10);
    sent second = write_page(2, 10);
    expect(&first, OUTCOME_ACCEPTED, "");
    stored.forgets = true;
    expect(&second, OUTCOME_ACCEPTED, "");
    ck_assert_uint_eq(stored.stacks, ROWS);
    free(first.bytes);
    free(second.bytes);
}
END_TEST

START_TEST(a_page_that_was_put_off_comes_again)
{
    sent first = write_page(1, 10);
    sent second = write_page(2, 20);
    expect(&first, OUTCOME_ACCEPTED, "");
    stored.fails = true;
    expect(&second, OUTCOME_RETRY, "store_busy");
    stored.fails = false;
    expect(&second, OUTCOME_ACCEPTED, "");
    ck_assert_uint_eq(stored.stacks, ROWS);
    free(first.bytes);
    free(second.bytes);
}
END_TEST

START_TEST(a_page_without_its_book_is_asked_for_plain)
{
    sent pages[3];
    for (uint8_t i = 0; i < 3; i++)
        pages[i] = write_page((uint8_t)(i + 1), 10U + i);
    expect(&pages[1], OUTCOME_NEED_BODY, "book_unknown");
    expect(&pages[0], OUTCOME_ACCEPTED, "");
    expect(&pages[2], OUTCOME_NEED_BODY, "book_unknown"); /* one is missing before it */
    expect(&pages[1], OUTCOME_ACCEPTED, "");
    server.ingest.limits.book_bytes = 4096;
    expect(&pages[2], OUTCOME_NEED_BODY, "book_full");
    books_free(server.books);
    server.books = NULL;
    expect(&pages[2], OUTCOME_NEED_BODY, "book_unknown");
    for (uint8_t i = 0; i < 3; i++)
        free(pages[i].bytes);
}
END_TEST

START_TEST(a_page_that_tells_another_body_is_asked_for_plain)
{
    sent first = write_page(1, 10);
    Hotstack__V1__ProfileBatch *message =
        hotstack__v1__profile_batch__unpack(NULL, first.length, first.bytes);
    ck_assert_ptr_nonnull(message);
    message->digest.data[0] ^= 1;
    sent other = {NULL, 0};
    ck_assert_int_eq(message_pack(&message->base, &other.bytes, &other.length), 0);
    expect(&other, OUTCOME_NEED_BODY, "book_mismatch");
    ck_assert_uint_eq(stored.writes, 0);
    expect(&first, OUTCOME_ACCEPTED, "");
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    free(first.bytes);
    free(other.bytes);
}
END_TEST

START_TEST(the_clusters_of_a_token_hold_for_pages)
{
    static const char *const clusters[] = {"west"};
    const scope west = {.clusters = clusters, .cluster_count = 1};
    char code[32];
    sent first = write_page(1, 10);
    (void)send(&first, &west, code);
    ck_assert_str_eq(code, "forbidden");
    ck_assert_uint_eq(stored.writes, 0);
    ck_assert_uint_eq(books_read(server.books).kept, 0);
    free(first.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page");
    TCase *tests = tcase_create("page");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, pages_are_stored_with_what_they_bring);
    tcase_add_test(tests, stacks_that_the_store_misses_come_from_the_book);
    tcase_add_test(tests, a_page_that_was_put_off_comes_again);
    tcase_add_test(tests, a_page_without_its_book_is_asked_for_plain);
    tcase_add_test(tests, a_page_that_tells_another_body_is_asked_for_plain);
    tcase_add_test(tests, the_clusters_of_a_token_hold_for_pages);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
