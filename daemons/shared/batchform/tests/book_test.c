/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a book come back as the batches they were, to the byte of the body. */
#include <batchform/book.h>
#include <check.h>
#include <run_suite.h>
#include <stackagg/stackagg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY = 19675, FRAMES = 60, STACKS = 40, DEPTH = 12 };

static const uint64_t day_ms = UINT64_C(86400000) * DAY;
static const book_limits limits = {.rows = 100000,
                                   .targets = 100,
                                   .windows = 1000,
                                   .depth = 64,
                                   .bytes = 1 << 24,
                                   .book = 1 << 22};
static Hotstack__V1__Collector sender = HOTSTACK__V1__COLLECTOR__INIT;
static uint64_t state;

static uint32_t below(uint32_t bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % bound;
}

#define PUSH(to, items, room, count, ...)                                                          \
    do {                                                                                           \
        ck_assert_ptr_nonnull(BATCH_NEXT((to)->items, (to)->room, (to)->count));                   \
        (to)->items[(to)->count++] = __VA_ARGS__;                                                  \
    } while (0)

/* ---- batches by chance: few texts and stacks, so that they come again ---- */

static uint32_t text(string_table *table, const char *stem, uint32_t number)
{
    char words[64];
    uint32_t index = 0;
    (void)snprintf(words, sizeof(words), "%s%u", stem, number);
    ck_assert_int_eq(string_table_add(table, words, strlen(words), &index), 0);
    return index;
}

static void set_id(profile_stack *stack, const string_table *words, const profile_frame *frames,
                   const uint32_t *numbers)
{
    uint64_t ids[DEPTH];
    sagg_stack_id id;
    for (uint32_t i = 0; i < stack->depth; i++) {
        const profile_frame *from = &frames[numbers[i]];
        sagg_frame frame = {.line = from->line, .kind = from->kind};
        frame.class_name.data = string_table_at(words, from->class_name, &frame.class_name.size);
        frame.method.data = string_table_at(words, from->method, &frame.method.size);
        sagg_frame_hash(NULL, &ids[i], &frame);
    }
    ck_assert_int_eq(sagg_stack_id_of_frame_ids(&id, ids, stack->depth, SAGG_NORMALISE_V1, NULL),
                     0);
    memcpy(stack->id, id.bytes, sizeof(stack->id));
}

static uint32_t add_stack(batch *one, uint32_t which)
{
    string_table words = {0};
    profile_frame frames[DEPTH];
    uint32_t numbers[DEPTH];
    profile_stack stack = {.normaliser = SAGG_NORMALISE_V1, .flags = which % 7 == 0};
    uint32_t index = 0;
    stack.depth = which % DEPTH;
    memset(frames, 0, sizeof(frames));
    for (uint32_t i = 0; i < stack.depth; i++) {
        uint32_t frame = (which / (i + 1)) % FRAMES;
        numbers[i] = i;
        frames[i].class_name = frame < 4 ? 0 : text(&words, "com.example.Class", frame / 4);
        frames[i].method = text(&words, "method", frame);
        frames[i].file = frame % 5 == 0 ? 0 : text(&words, "Class.java", frame / 4 + frame % 3);
        frames[i].line = frame % 6 == 0 ? 0 : 10 * frame;
        frames[i].kind = (uint8_t)(frame % 3);
    }
    set_id(&stack, &words, frames, numbers);
    const frame_source source = {&words, frames, numbers};
    ck_assert_int_eq(batch_add_stack(one, &source, &stack, &index), 0);
    string_table_clear(&words);
    return index;
}

static void add_target(batch *one, uint32_t number)
{
    batch_target to = {.host_pid = 100 + number, .ns_pid = number, .start_ticks = 5 * number};
    to.start_ms = day_ms + number;
    to.namespace_str = number < 2 ? 0 : text(&one->strings, "namespace", number / 3);
    to.workload_str = text(&one->strings, "workload", number / 2);
    to.boot_id_str = text(&one->strings, "boot", 0);
    to.image_str = text(&one->strings, "image", number);
    PUSH(one, targets, target_room, target_count, to);
}

static bool has_row(const batch *one, const batch_row *row)
{
    for (size_t i = 0; i < one->row_count; i++) {
        const batch_row *at = &one->rows[i];
        if (at->window == row->window && at->pool_str == row->pool_str && at->stack == row->stack &&
            at->facet == row->facet && at->object_str == row->object_str)
            return true;
    }
    return false;
}

static void fill_row(batch_row *row, uint32_t type, uint64_t interval)
{
    row->samples = below(4) == 0 ? below(1000000) : 1 + below(3);
    row->raw_value = type == 1 || type == 2 ? row->samples * interval : row->samples;
    row->value = type < 3 ? row->raw_value : row->raw_value + below(5000);
    if (type == 5)
        row->raw_value = ((uint64_t)below(UINT32_MAX) << 20) + below(1000);
    if (type == 5 && below(3) == 0)
        row->value = below(9); /* below the raw one */
}

static void add_rows(batch *one, uint32_t window, uint32_t type, uint32_t count)
{
    profile_part *totals = &one->windows[window].totals;
    for (uint32_t i = 0; i < count; i++) {
        batch_row row = {.window = window, .facet = below(3)};
        row.stack = add_stack(one, below(STACKS));
        row.pool_str = text(&one->strings, "pool", below(3));
        row.object_str = type > 1 ? text(&one->strings, "object", below(4)) : 0;
        fill_row(&row, type, totals->interval);
        if (has_row(one, &row))
            continue;
        PUSH(one, rows, row_room, row_count, row);
        totals->samples += row.samples;
        totals->raw_total += row.raw_value;
        totals->value_total += row.value;
    }
}

/* The rows of the window before with its samples, as types of a family have them. */
static void copy_rows(batch *one, uint32_t window)
{
    profile_part *totals = &one->windows[window].totals;
    size_t end = one->row_count;
    bool same = below(2) == 0;
    for (size_t i = 0; i < end; i++) {
        if (one->rows[i].window != window - 1)
            continue;
        batch_row row = one->rows[i];
        row.window = window;
        row.samples += !same && below(3) == 0;
        PUSH(one, rows, row_room, row_count, row);
        totals->samples += row.samples;
        totals->raw_total += row.raw_value;
        totals->value_total += row.value;
    }
}

static void add_details(batch *one, uint32_t window)
{
    uint64_t unit = below(2) == 0 ? one->windows[window].totals.interval : 1;
    for (uint32_t second = 0; second < 10; second++) {
        if (below(3) == 0)
            continue;
        PUSH(one, seconds, second_room, second_count,
             (batch_second){window, text(&one->strings, "pool", second % 2), second,
                            unit * (1 + below(100))});
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (below(4) == 0)
            continue;
        uint64_t samples = below(50);
        PUSH(one, threads, thread_room, thread_count,
             (batch_thread){.window = window,
                            .name_str = text(&one->strings, "thread-", i),
                            .pool_str = text(&one->strings, "pool", i % 2),
                            .os_tid = below(2) * (4000 - i),
                            .java_tid = i,
                            .samples = samples,
                            .raw_value = samples,
                            .value = samples + below(2)});
    }
}

static void make_batch(batch *one, uint32_t number)
{
    uint8_t id[BATCH_ID_SIZE];
    memset(id, (int)number + 1, sizeof(id));
    batch_begin(one, id, DAY);
    one->created_ms = day_ms + 60000 + 60000 * (uint64_t)number;
    uint32_t targets = 1 + below(3);
    for (uint32_t i = 0; i < targets; i++)
        add_target(one, i + below(2) * 3);
    for (uint32_t target = 0; target < targets; target++) {
        for (uint32_t type = 1; type <= 5; type++) {
            uint32_t window = (uint32_t)one->window_count;
            batch_window to = {.target = target,
                               .start_ms = one->created_ms - 50000 + target,
                               .length_ms = 60000,
                               .covered_ms = 60000 - below(3)};
            to.engine_str = text(&one->strings, "engine", below(2));
            to.totals.type = type;
            to.totals.interval = type == 1 ? 10000000 : type == 2 ? 524288 : below(2);
            to.totals.lost_events = below(20) == 0;
            PUSH(one, windows, window_room, window_count, to);
            if (type == 3 || (type == 5 && below(2) == 0))
                copy_rows(one, window);
            else
                add_rows(one, window, type, below(30));
            add_details(one, window);
        }
    }
    ck_assert_int_eq(batch_order(one), 0);
}

/* ---- pages ---- */

typedef struct written {
    uint8_t *body;
    size_t body_length;
    uint8_t digest[16];
    uint8_t id[BATCH_ID_SIZE];
    size_t stack_count;
    uint8_t *bytes; /* ProfileBatch with the page */
    size_t length;
} written;

static void write_page(written *out, book_writer *writer, const batch *one)
{
    ck_assert_int_eq(batch_pack_body(one, &sender, &out->body, &out->body_length), 0);
    batch_digest(out->digest, out->body, out->body_length);
    memcpy(out->id, one->id, sizeof(out->id));
    out->stack_count = one->stack_ids.count;
    ck_assert_int_eq(book_write(writer, one, &sender, out->digest, &out->bytes, &out->length), 0);
}

static void written_free(written *page)
{
    free(page->body);
    free(page->bytes);
}

static Hotstack__V1__ProfileBatch *open_page(const written *page)
{
    Hotstack__V1__ProfileBatch *message =
        hotstack__v1__profile_batch__unpack(NULL, page->length, page->bytes);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(message->page);
    ck_assert_ptr_null(message->stacks);
    ck_assert_uint_eq(message->body.len, 0);
    ck_assert(memcmp(message->digest.data, page->digest, 16) == 0);
    ck_assert(memcmp(message->batch_id.data, page->id, 16) == 0);
    return message;
}

static enum book_result read_page(book *from, const written *page, batch *out, book_fault *fault)
{
    Hotstack__V1__ProfileBatch *message = open_page(page);
    const ProtobufCBinaryData *content = &message->page->content;
    ck_assert_uint_eq(message->page->book, book_number(from));
    enum book_result got = book_read(from, content->data, content->len, &limits, out, fault);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    return got;
}

/* The batch of a page has the body that was written, and its stacks can be had. */
static void check_batch(const book *from, const written *page, const batch *back)
{
    uint8_t *body = NULL;
    size_t length = 0;
    batch stacks;
    ck_assert_int_eq(batch_pack_body(back, book_sender(from), &body, &length), 0);
    ck_assert_uint_eq(length, page->body_length);
    ck_assert(memcmp(body, page->body, length) == 0);
    free(body);
    ck_assert_int_eq(book_stacks(from, true, 100000, &stacks), BOOK_READ);
    ck_assert_uint_eq(stacks.stack_ids.count, page->stack_count);
    for (size_t i = 0; i < stacks.stack_ids.count; i++) {
        profile_stack again = stacks.stacks[i];
        const frame_source source = batch_frames(&stacks);
        ck_assert(key_table_has(&back->stack_ids, again.id));
        set_id(&again, source.strings, source.frames, source.stack_frames + again.first);
        ck_assert(memcmp(again.id, stacks.stacks[i].id, sizeof(again.id)) == 0);
    }
    batch_clear(&stacks);
}

static void set_up(void)
{
    static char cluster[] = "cluster";
    static char instance[] = "instance";
    sender.cluster = cluster;
    sender.instance = instance;
    sender.run_id = 42;
    state = 1;
}

START_TEST(pages_come_back_as_the_batches_they_were)
{
    state = (uint64_t)_i + 1;
    book_writer *writer = book_writer_new(7);
    book *from = book_new(7);
    for (uint32_t number = 0; number < 12; number++) {
        batch one;
        batch back;
        written page = {0};
        book_fault fault = {""};
        make_batch(&one, number);
        write_page(&page, writer, &one);
        ck_assert_msg(read_page(from, &page, &back, &fault) == BOOK_READ, "%s", fault.text);
        check_batch(from, &page, &back);
        if (number % 3 == 1) { /* not stored, and sent again */
            batch_clear(&back);
            book_drop(from);
            ck_assert_uint_eq(book_pages(from), number);
            ck_assert_msg(read_page(from, &page, &back, &fault) == BOOK_READ, "%s", fault.text);
            check_batch(from, &page, &back);
        }
        ck_assert(!book_has_just(from, page.id, page.digest));
        book_keep(from, page.id, page.digest);
        ck_assert(book_has_just(from, page.id, page.digest));
        ck_assert_uint_eq(book_size(from), book_writer_size(writer));
        batch_clear(&one);
        batch_clear(&back);
        written_free(&page);
    }
    book_writer_free(writer);
    book_free(from);
}
END_TEST

START_TEST(what_is_known_is_not_told_again)
{
    book_writer *writer = book_writer_new(7);
    book *from = book_new(7);
    batch one;
    written pages[2] = {{0}};
    make_batch(&one, 1);
    for (size_t i = 0; i < 2; i++) {
        batch back;
        batch stacks;
        book_fault fault;
        write_page(&pages[i], writer, &one);
        ck_assert_int_eq(read_page(from, &pages[i], &back, &fault), BOOK_READ);
        ck_assert_int_eq(book_stacks(from, false, 100000, &stacks), BOOK_READ);
        ck_assert_uint_eq(stacks.stack_ids.count, i == 0 ? back.stack_ids.count : 0);
        book_keep(from, pages[i].id, pages[i].digest);
        batch_clear(&stacks);
        batch_clear(&back);
    }
    ck_assert_uint_lt(3 * pages[1].length, 2 * pages[0].length); /* values alone */
    batch_clear(&one);
    written_free(&pages[0]);
    written_free(&pages[1]);
    book_writer_free(writer);
    book_free(from);
}
END_TEST

START_TEST(the_order_of_a_batch_is_its_contents_alone)
{
    batch one;
    batch other;
    written a = {0};
    written b = {0};
    make_batch(&one, 1);
    state = 1;
    make_batch(&other, 1);
    for (size_t i = 0; i + 1 < other.row_count; i++) { /* another way it may come */
        batch_row row = other.rows[i];
        other.rows[i] = other.rows[i + 1];
        other.rows[i + 1] = row;
    }
    (void)text(&other.strings, "used by nothing", 0);
    ck_assert_int_eq(batch_order(&other), 0);
    ck_assert_int_eq(batch_pack_body(&one, &sender, &a.body, &a.body_length), 0);
    ck_assert_int_eq(batch_pack_body(&other, &sender, &b.body, &b.body_length), 0);
    ck_assert_uint_eq(a.body_length, b.body_length);
    ck_assert(memcmp(a.body, b.body, a.body_length) == 0);
    batch_clear(&one);
    batch_clear(&other);
    written_free(&a);
    written_free(&b);
}
END_TEST

START_TEST(an_ordered_batch_keeps_the_frames_of_its_stacks)
{
    batch one;
    batch back;
    uint8_t digest[16];
    uint8_t *bytes = NULL;
    size_t length = 0;
    make_batch(&one, 1);
    ck_assert_int_eq(batch_pack(&one, &one, &sender, digest, &bytes, &length), 0);
    Hotstack__V1__ProfileBatch *message = hotstack__v1__profile_batch__unpack(NULL, length, bytes);
    ck_assert_ptr_nonnull(message);
    ck_assert_int_eq(batch_unpack(&back, message), 0);
    ck_assert_uint_gt(back.stack_ids.count, 10);
    for (size_t i = 0; i < back.stack_ids.count; i++) {
        profile_stack again = back.stacks[i];
        const frame_source source = batch_frames(&back);
        set_id(&again, source.strings, source.frames, source.stack_frames + again.first);
        ck_assert(memcmp(again.id, back.stacks[i].id, sizeof(again.id)) == 0);
    }
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    free(bytes);
    batch_clear(&one);
    batch_clear(&back);
}
END_TEST

/* A batch of one page, read under limits of the caller's. */
static enum book_result read_under(const book_limits *own, uint32_t pages)
{
    book_writer *writer = book_writer_new(7);
    book *from = book_new(7);
    enum book_result got = BOOK_READ;
    for (uint32_t number = 0; number < pages && got == BOOK_READ; number++) {
        batch one;
        batch back;
        written page = {0};
        book_fault fault;
        make_batch(&one, number);
        write_page(&page, writer, &one);
        Hotstack__V1__ProfileBatch *message = open_page(&page);
        const ProtobufCBinaryData *content = &message->page->content;
        got = book_read(from, content->data, content->len, own, &back, &fault);
        if (got == BOOK_READ)
            book_keep(from, page.id, page.digest);
        else
            ck_assert_uint_eq(book_pages(from), number);
        batch_clear(&back);
        batch_clear(&one);
        hotstack__v1__profile_batch__free_unpacked(message, NULL);
        written_free(&page);
    }
    book_writer_free(writer);
    book_free(from);
    return got;
}

START_TEST(each_limit_holds)
{
    book_limits own = limits;
    ck_assert_int_eq(read_under(&own, 3), BOOK_READ);
    own.rows = 20;
    ck_assert_int_eq(read_under(&own, 3), BOOK_TOO_LARGE);
    own = limits;
    own.windows = 3;
    ck_assert_int_eq(read_under(&own, 1), BOOK_TOO_LARGE);
    own = limits;
    own.bytes = 100;
    ck_assert_int_eq(read_under(&own, 1), BOOK_TOO_LARGE);
    own = limits;
    own.depth = 3;
    ck_assert_int_eq(read_under(&own, 1), BOOK_UNREADABLE);
    own = limits;
    own.book = 8000;
    ck_assert_int_eq(read_under(&own, 5), BOOK_FULL);
}
END_TEST

START_TEST(a_damaged_page_leaves_the_book_as_it_was)
{
    book_writer *writer = book_writer_new(7);
    book *from = book_new(7);
    batch one;
    written pages[2] = {{0}};
    batch back;
    book_fault fault;
    make_batch(&one, 0);
    write_page(&pages[0], writer, &one);
    batch_clear(&one);
    make_batch(&one, 1);
    write_page(&pages[1], writer, &one);
    batch_clear(&one);
    ck_assert_int_eq(read_page(from, &pages[0], &back, &fault), BOOK_READ);
    batch_clear(&back);
    book_keep(from, pages[0].id, pages[0].digest);
    uint64_t size = book_size(from);
    Hotstack__V1__ProfileBatch *message = open_page(&pages[1]);
    ProtobufCBinaryData *content = &message->page->content;
    for (size_t at = 0; at < content->len; at++) {
        content->data[at] ^= (uint8_t)(1 + below(255));
        uint8_t saved = content->data[at];
        if (book_read(from, content->data, content->len, &limits, &back, &fault) == BOOK_READ)
            book_drop(from);
        batch_clear(&back);
        ck_assert_uint_eq(book_size(from), size);
        ck_assert_int_ne(book_read(from, content->data, at, &limits, &back, &fault), BOOK_READ);
        batch_clear(&back);
        content->data[at] = saved;
        hotstack__v1__profile_batch__free_unpacked(message, NULL);
        message = open_page(&pages[1]);
        content = &message->page->content;
    }
    ck_assert_int_eq(read_page(from, &pages[1], &back, &fault), BOOK_READ);
    check_batch(from, &pages[1], &back);
    batch_clear(&back);
    hotstack__v1__profile_batch__free_unpacked(message, NULL);
    written_free(&pages[0]);
    written_free(&pages[1]);
    book_writer_free(writer);
    book_free(from);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("book");
    TCase *tests = tcase_create("book");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, pages_come_back_as_the_batches_they_were, 0, 20);
    tcase_add_test(tests, what_is_known_is_not_told_again);
    tcase_add_test(tests, the_order_of_a_batch_is_its_contents_alone);
    tcase_add_test(tests, an_ordered_batch_keeps_the_frames_of_its_stacks);
    tcase_add_test(tests, each_limit_holds);
    tcase_add_test(tests, a_damaged_page_leaves_the_book_as_it_was);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
