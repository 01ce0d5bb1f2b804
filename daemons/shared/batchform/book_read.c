/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages as batches. Everything in a page is a stranger's: each column is read from its front
 * through `take`, which ends where the column does, each number is held against its table, and what
 * a page stands for is added up before memory is taken for it.
 */
#include "read_impl.h"

#include <batchform/wire.h>
#include <budget.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* ---- rows ---- */

static bool take_list(reading *in, size_t window, uint32_t *number)
{
    book *b = in->from;
    uint32_t ref = 0;
    if (!TAKE(in, window_list, window, &ref))
        return false;
    *number = ref - 1;
    if (ref != 0)
        return book__in_range(in, "list", *number, b->counts.lists);
    read_list *to = BATCH_NEXT(b->lists, b->list_room, b->counts.lists);
    if (to == NULL)
        return book__no_memory(in);
    *to = (read_list){0};
    *number = (uint32_t)b->counts.lists++;
    return true;
}

static bool note_key(reading *in, uint32_t key)
{
    uint32_t *next = BATCH_NEXT(in->keys, in->key_room, in->key_count);
    if (next == NULL)
        return book__no_memory(in);
    *next = key;
    in->key_count++;
    return true;
}

static bool take_key(reading *in, read_list *list)
{
    size_t at = in->at.key++;
    uint32_t stack = 0;
    uint32_t pool = 0;
    uint32_t object = 0;
    book_key fresh = {0};
    if (!TAKE(in, key_stack, at, &stack) || !TAKE(in, key_pool, at, &pool) ||
        !TAKE(in, key_facet, at, &fresh.facet) || !TAKE(in, key_object, at, &object))
        return false;
    if (stack == 0 ? !book__take_stack(in, &fresh.stack)
                   : !book__in_range(in, "stack", fresh.stack = stack - 1, in->from->counts.stacks))
        return false;
    if (!book__resolve_string(in, pool, &fresh.pool) ||
        !book__resolve_string(in, object, &fresh.object))
        return false;
    book_key *to = BATCH_NEXT(list->keys, list->room, list->count);
    if (to == NULL)
        return book__no_memory(in);
    *to = fresh;
    in->from->counts.keys++;
    return note_key(in, (uint32_t)list->count++);
}

/* The keys of the window's rows, as numbers in their list, into in->keys. */
static bool take_keys(reading *in, size_t window, uint32_t form, uint32_t list_number)
{
    read_list *list = &in->from->lists[list_number];
    uint32_t known = 0;
    uint32_t fresh = 0;
    uint64_t next = 0;
    if ((form & FORM(ROWS_AS_BEFORE)) != 0)
        return (window > 0 && in->list == list_number) ||
               book__fail(in, BOOK_UNREADABLE, "Window %zu has rows as before, of another list.",
                          window);
    in->key_count = 0;
    in->list = list_number;
    if (!TAKE(in, window_known, window, &known) || !TAKE(in, window_new, window, &fresh))
        return false;
    size_t count = list->count;
    for (uint32_t i = 0; i < known; i++) {
        uint32_t gap = 0;
        if (!TAKE(in, row_gap, in->at.row_gap, &gap))
            return false;
        in->at.row_gap++;
        next += gap;
        if (!book__in_range(in, "key", next, count) || !note_key(in, (uint32_t)next))
            return false;
        next++;
    }
    for (uint32_t i = 0; i < fresh; i++) {
        if (!take_key(in, list))
            return false;
    }
    return true;
}

typedef struct values {
    uint64_t samples, raw, value;
} values;

/* The columns of values of rows, or of threads. */
typedef struct value_columns {
    uint64_t *samples, *raw, *value;
    size_t n_samples, n_raw, n_value;
} value_columns;

#define VALUES_OF(c, what)                                                                         \
    (value_columns)                                                                                \
    {                                                                                              \
        (c)->what##_samples, (c)->what##_raw, (c)->what##_value, (c)->n_##what##_samples,          \
            (c)->n_##what##_raw, (c)->n_##what##_value                                             \
    }

/* The values that the form does not give; out->samples is set where they are as before. */
static bool take_values(reading *in, const value_columns *from, value_cursor *at, uint32_t form,
                        bool has_samples, uint64_t interval, values *out)
{
    uint64_t difference = 0;
    if (has_samples && !TAKE_OF(in, from, samples, at->samples++, &out->samples))
        return false;
    if ((form & FORM(RAW_IS_SAMPLES)) != 0)
        out->raw = out->samples;
    else if ((form & FORM(RAW_BY_INTERVAL)) != 0)
        out->raw = out->samples * interval;
    else if (!TAKE_OF(in, from, raw, at->raw++, &out->raw))
        return false;
    if ((form & FORM(VALUE_IS_RAW)) == 0 && !TAKE_OF(in, from, value, at->value++, &difference))
        return false;
    out->value = out->raw + unzigzag(difference);
    return true;
}

static bool take_row(reading *in, uint32_t window, const book_key *key, const values *got)
{
    batch *out = in->out;
    batch_row *to = BATCH_NEXT(out->rows, out->row_room, out->row_count);
    if (to == NULL)
        return book__no_memory(in);
    *to = (batch_row){.window = window,
                      .facet = key->facet,
                      .raw_value = got->raw,
                      .value = got->value,
                      .samples = got->samples};
    out->row_count++;
    profile_part *totals = &out->windows[window].totals;
    totals->samples += got->samples;
    totals->raw_total += got->raw;
    totals->value_total += got->value;
    return book__use_string(in, key->pool, &to->pool_str) &&
           book__use_string(in, key->object, &to->object_str) &&
           book__use_stack(in, key->stack, &to->stack);
}

static bool take_rows(reading *in, uint32_t window, uint32_t form)
{
    const read_list *list = &in->from->lists[in->list];
    uint64_t interval = in->out->windows[window].totals.interval;
    size_t before = in->first_row;
    const value_columns columns = VALUES_OF(in->content, row);
    if (in->out->row_count + in->key_count > in->limits->rows)
        return book__fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu rows.",
                          (unsigned long long)in->limits->rows);
    if ((form & FORM(SAMPLES_AS_BEFORE)) != 0 && (form & FORM(ROWS_AS_BEFORE)) == 0)
        return book__fail(in, BOOK_UNREADABLE, "Window %u has samples as before, but other rows.",
                          window);
    in->first_row = in->out->row_count;
    for (size_t i = 0; i < in->key_count; i++) {
        values got = {0};
        if ((form & FORM(SAMPLES_AS_BEFORE)) != 0)
            got.samples = in->out->rows[before + i].samples;
        if (!take_values(in, &columns, &in->at.row_values, form,
                         (form & FORM(SAMPLES_AS_BEFORE)) == 0, interval, &got) ||
            !take_row(in, window, &list->keys[in->keys[i]], &got))
            return false;
    }
    return true;
}

/* ---- seconds ---- */

static bool take_second(reading *in, uint32_t window, uint32_t pool, uint64_t unit, uint64_t *next,
                        uint64_t *last)
{
    batch *out = in->out;
    uint32_t gap = 0;
    uint64_t difference = 0;
    if (!TAKE(in, second_gap, in->at.second, &gap) ||
        !TAKE(in, second_value, in->at.second, &difference))
        return false;
    in->at.second++;
    batch_second *to = BATCH_NEXT(out->seconds, out->second_room, out->second_count);
    if (to == NULL)
        return book__no_memory(in);
    *next += gap;
    *last += unzigzag(difference);
    if (*next >= UINT32_MAX)
        return book__fail(in, BOOK_UNREADABLE, "second_gap leads out of window %u.", window);
    *to = (batch_second){
        .window = window, .pool_str = pool, .second = (uint32_t)*next, .value = *last * unit};
    out->second_count++;
    (*next)++;
    return true;
}

static bool take_seconds(reading *in, uint32_t window, uint32_t form)
{
    uint64_t interval = in->out->windows[window].totals.interval;
    uint64_t unit = (form & FORM(SECONDS_BY_INTERVAL)) != 0 ? interval : 1;
    uint32_t series = 0;
    if (!TAKE(in, window_series, window, &series))
        return false;
    for (uint32_t i = 0; i < series; i++) {
        uint32_t ref = 0;
        uint32_t length = 0;
        uint32_t pool = 0;
        uint64_t next = 0;
        uint64_t last = 0;
        if (!TAKE(in, series_pool, in->at.series, &ref) ||
            !TAKE(in, series_length, in->at.series, &length) ||
            !book__resolve_string(in, ref, &pool) || !book__use_string(in, pool, &pool))
            return false;
        in->at.series++;
        for (uint32_t k = 0; k < length; k++) {
            if (!take_second(in, window, pool, unit, &next, &last))
                return false;
        }
    }
    return true;
}

/* ---- threads ---- */

static bool take_new_thread(reading *in, uint32_t *number)
{
    book *b = in->from;
    size_t at = in->at.thread++;
    uint32_t name = 0;
    uint32_t pool = 0;
    book_thread fresh = {0};
    if (!TAKE(in, thread_os_tid, at, &fresh.os_tid) ||
        !TAKE(in, thread_java_tid, at, &fresh.java_tid) || !TAKE(in, thread_name, at, &name) ||
        !TAKE(in, thread_pool, at, &pool) || !book__resolve_string(in, name, &fresh.name) ||
        !book__resolve_string(in, pool, &fresh.pool))
        return false;
    book_thread *to = BATCH_NEXT(b->threads, b->thread_room, b->counts.threads);
    if (to == NULL)
        return book__no_memory(in);
    *to = fresh;
    *number = (uint32_t)b->counts.threads++;
    return true;
}

static bool take_thread_number(reading *in, uint64_t next, uint32_t *number)
{
    uint32_t step = 0;
    if (!TAKE(in, thread_step, in->at.thread_step, &step))
        return false;
    in->at.thread_step++;
    if (step == 0)
        return take_new_thread(in, number);
    uint64_t got = next + unzigzag(step - 1);
    *number = (uint32_t)got;
    return book__in_range(in, "thread", got, in->from->counts.threads);
}

static bool take_thread(reading *in, uint32_t window, uint32_t form, uint32_t number,
                        uint64_t samples)
{
    batch *out = in->out;
    values got = {.samples = samples};
    const value_columns columns = VALUES_OF(in->content, thread);
    const book_thread *from = &in->from->threads[number];
    batch_thread *to = BATCH_NEXT(out->threads, out->thread_room, out->thread_count);
    if (to == NULL)
        return book__no_memory(in);
    if (!take_values(in, &columns, &in->at.thread_values, form,
                     (form & FORM(THREAD_SAMPLES_AS_BEFORE)) == 0,
                     out->windows[window].totals.interval, &got))
        return false;
    *to = (batch_thread){.window = window,
                         .os_tid = from->os_tid,
                         .java_tid = from->java_tid,
                         .raw_value = got.raw,
                         .value = got.value,
                         .samples = got.samples};
    out->thread_count++;
    return book__use_string(in, from->name, &to->name_str) &&
           book__use_string(in, from->pool, &to->pool_str);
}

static bool take_threads(reading *in, uint32_t window, uint32_t form)
{
    bool as_before = (form & FORM(THREADS_AS_BEFORE)) != 0;
    bool same_samples = (form & FORM(THREAD_SAMPLES_AS_BEFORE)) != 0;
    uint32_t count = 0;
    if (!TAKE(in, window_threads, window, &count))
        return false;
    if (same_samples && !as_before)
        return book__fail(in, BOOK_UNREADABLE,
                          "Window %u has samples as before, but other threads.", window);
    size_t total = as_before ? in->thread_count : count;
    if (in->out->thread_count + total > in->limits->rows)
        return book__fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu threads.",
                          (unsigned long long)in->limits->rows);
    size_t before = in->first_thread;
    in->first_thread = in->out->thread_count;
    for (size_t i = 0; i < total; i++) {
        uint32_t *number =
            as_before ? &in->thread_numbers[i] : BATCH_NEXT(in->thread_numbers, in->thread_room, i);
        if (number == NULL)
            return book__no_memory(in);
        uint64_t next = i > 0 ? (uint64_t)in->thread_numbers[i - 1] + 1 : 0;
        uint64_t samples = same_samples ? in->out->threads[before + i].samples : 0;
        if ((!as_before && !take_thread_number(in, next, number)) ||
            !take_thread(in, window, form, in->thread_numbers[i], samples))
            return false;
    }
    in->thread_count = total;
    return true;
}

/* ---- windows ---- */

static bool take_span(reading *in, size_t at, batch_window *to)
{
    const batch *out = in->out;
    uint32_t missed = 0;
    uint32_t engine = 0;
    uint64_t start = 0;
    profile_part *totals = &to->totals;
    if (!TAKE(in, window_type, at, &totals->type) || !TAKE(in, window_start, at, &start) ||
        !TAKE(in, window_length, at, &to->length_ms) || !TAKE(in, window_missed, at, &missed) ||
        !TAKE(in, window_engine, at, &engine) ||
        !TAKE(in, window_interval, at, &totals->interval) ||
        !TAKE(in, window_truncated, at, &totals->truncated_raw) ||
        !TAKE(in, window_dropped, at, &totals->dropped_raw) ||
        !TAKE(in, window_dropped_stacks, at, &totals->dropped_stacks) ||
        !TAKE(in, window_lost, at, &totals->lost_events) ||
        !book__resolve_string(in, engine, &engine) ||
        !book__use_string(in, engine, &to->engine_str))
        return false;
    to->covered_ms = to->length_ms - missed;
    to->start_ms = (at == 0 ? out->created_ms : out->windows[at - 1].start_ms) + unzigzag(start);
    return true;
}

static bool take_window(reading *in, size_t at)
{
    batch *out = in->out;
    batch_window *to = BATCH_NEXT(out->windows, out->window_room, out->window_count);
    uint32_t list = 0;
    uint32_t form = 0;
    if (to == NULL)
        return book__no_memory(in);
    *to = (batch_window){0};
    if (!book__take_window_target(in, at, &to->target) || !take_span(in, at, to) ||
        !take_list(in, at, &list) || !TAKE(in, window_form, at, &form))
        return false;
    out->window_count++;
    return take_keys(in, at, form, list) && take_rows(in, (uint32_t)at, form) &&
           take_seconds(in, (uint32_t)at, form) && take_threads(in, (uint32_t)at, form);
}

/* ---- the page ---- */

static bool begin_tables(reading *in)
{
    book *b = in->from;
    if (b->counts.nodes > 0)
        return true;
    read_node *root = BATCH_NEXT(b->nodes, b->node_room, 0);
    if (root == NULL)
        return book__no_memory(in);
    *root = (read_node){0};
    b->counts.nodes = 1;
    return true;
}

/* The sender of page 0, in memory of the book's own. */
static bool take_sender(reading *in)
{
    book *b = in->from;
    const Hotstack__V1__Collector *from = in->content->collector;
    uint8_t *packed = NULL;
    size_t length = 0;
    if (b->pages > 0 || from == NULL)
        return (b->pages > 0 && from == NULL) ||
               book__fail(in, BOOK_UNREADABLE, "The collector stands in page 0 and in no other.");
    if (message_pack(&from->base, &packed, &length) != 0)
        return book__no_memory(in);
    b->sender = hotstack__v1__collector__unpack(NULL, length, packed);
    free(packed);
    b->sender_is_new = b->sender != NULL;
    return b->sender != NULL || book__no_memory(in);
}

static bool is_read_whole(reading *in)
{
    const page_content *c = in->content;
    const cursor *at = &in->at;
    if (at->string != c->n_string_length || at->string_byte != c->string_data.len ||
        at->frame != c->n_frame_class || at->stack != c->n_stack_base ||
        at->stack_frame != c->n_stack_frame || at->key != c->n_key_stack ||
        at->row_gap != c->n_row_gap || at->row_values.samples != c->n_row_samples ||
        at->series != c->n_series_pool || at->second != c->n_second_gap ||
        at->thread_step != c->n_thread_step || at->thread_values.samples != c->n_thread_samples)
        return book__fail(in, BOOK_UNREADABLE, "A page has more entries than its windows use.");
    return true;
}

static bool read_windows(reading *in)
{
    const page_content *c = in->content;
    if (c->n_window_target > in->limits->windows)
        return book__fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu windows.",
                          (unsigned long long)in->limits->windows);
    in->out->created_ms = c->created_ms;
    for (size_t i = 0; i < c->n_window_target; i++) {
        if (!take_window(in, i))
            return false;
        if (in->out->target_count > in->limits->targets)
            return book__fail(in, BOOK_TOO_LARGE, "A page stands for more than %llu targets.",
                              (unsigned long long)in->limits->targets);
        if (book_size(in->from) > in->limits->book)
            return book__fail(in, BOOK_FULL, "The book would have more than %llu bytes.",
                              (unsigned long long)in->limits->book);
    }
    return is_read_whole(in);
}

size_t book_content_size(const void *content, size_t length)
{
    unsigned long long size = ZSTD_getFrameContentSize(content, length);
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > SIZE_MAX / 2
               ? 0
               : (size_t)size;
}

static uint8_t *inflate_with(reading *in, const char *prefix, size_t prefix_length,
                             const void *content, size_t length, size_t size)
{
    uint8_t *bytes = malloc(size);
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    size_t got = 0;
    if (bytes != NULL && zstd != NULL) {
        (void)ZSTD_DCtx_refPrefix(zstd, prefix, prefix_length);
        got = ZSTD_decompressDCtx(zstd, bytes, size, content, length);
    }
    ZSTD_freeDCtx(zstd);
    if (bytes == NULL || zstd == NULL)
        book__no_memory(in);
    else if (ZSTD_isError(got) || got != size)
        book__fail(in, BOOK_UNREADABLE, "A page is no zstd frame with the book's prefix.");
    else
        return bytes;
    free(bytes);
    return NULL;
}

/* The content unpacked, in the book as the one under way; false with the fault. */
static bool inflate(reading *in, const void *content, size_t length)
{
    book *b = in->from;
    size_t prefix_length = 0;
    size_t size = book_content_size(content, length);
    if (size == 0 || size > in->limits->bytes)
        return book__fail(in, size == 0 ? BOOK_UNREADABLE : BOOK_TOO_LARGE,
                          "A page says that it has %zu bytes unpacked.", size);
    char *prefix = book__prefix(&b->strings, b->strings.bytes, &b->before, &prefix_length);
    if (prefix == NULL)
        return book__no_memory(in);
    b->under_way =
        (book_content){inflate_with(in, prefix, prefix_length, content, length, size), size};
    free(prefix);
    if (b->under_way.data == NULL)
        return false;
    b->counts.content = size < BOOK_PREFIX_MAX ? size : BOOK_PREFIX_MAX;
    return true;
}

static page_content *unpack(reading *in, budget *memory, const uint8_t *bytes, size_t size)
{
    const char *problem = NULL;
    size_t offset = 0;
    if (!wire_check(&hotstack__v1__page_content__descriptor, bytes, size, &problem, &offset)) {
        book__fail(in, BOOK_UNREADABLE, "PageContent: %s, at byte %zu.", problem, offset);
        return NULL;
    }
    budget_init(memory, 8 * size + 65536);
    page_content *content = hotstack__v1__page_content__unpack(&memory->allocator, size, bytes);
    if (content == NULL && memory->no_memory)
        book__no_memory(in);
    else if (content == NULL)
        book__fail(in, BOOK_UNREADABLE, "A page is not the protobuf message that belongs here.");
    return content;
}

static void read_content(reading *in, const uint8_t *bytes, size_t size)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    budget memory;
    page_content *content = unpack(in, &memory, bytes, size);
    if (content == NULL)
        return;
    in->content = content;
    in->from->used_count = 0;
    batch_begin(in->out, no_id, content->day);
    if (begin_tables(in) && take_sender(in) && read_windows(in) && batch_order(in->out) != 0)
        book__no_memory(in);
    hotstack__v1__page_content__free_unpacked(content, &memory.allocator);
}

enum book_result book_read(book *one, const void *content, size_t length, const book_limits *limits,
                           batch *out, book_fault *fault)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    reading in = {.from = one, .limits = limits, .out = out, .fault = fault};
    batch_begin(out, no_id, 0);
    book_drop(one); /* what was neither kept nor dropped */
    if (inflate(&in, content, length))
        read_content(&in, one->under_way.data, one->under_way.length);
    free(in.keys);
    free(in.thread_numbers);
    if (in.result != BOOK_READ) {
        book_drop(one);
        batch_clear(out);
    }
    return in.result;
}
