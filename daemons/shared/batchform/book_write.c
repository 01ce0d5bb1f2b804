/* SPDX-License-Identifier: Apache-2.0 */
/* Batches as pages. What a page brings is interned as it is written, in the order of reading. */
#include "write_impl.h"

#include <stdlib.h>
#include <string.h>

enum { LEVEL = 12 };

book_writer *book_writer_new(uint64_t number)
{
    book_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL)
        return NULL;
    writer->number = number;
    writer->frames.key_size = sizeof(book_frame);
    writer->nodes.key_size = sizeof(book_node);
    writer->stack_ids.key_size = STACK_ID_SIZE;
    writer->list_names.key_size = 3 * sizeof(uint32_t);
    writer->threads.key_size = sizeof(book_thread);
    writer->targets.key_size = sizeof(batch_target);
    writer->zstd = ZSTD_createCCtx();
    if (writer->zstd == NULL) {
        book_writer_free(writer);
        return NULL;
    }
    return writer;
}

void book_writer_free(book_writer *writer)
{
    if (writer == NULL)
        return;
    for (size_t i = 0; i < writer->list_names.count; i++)
        key_table_clear(&writer->lists[i].keys);
    free(writer->lists);
    free(writer->newest);
    string_table_clear(&writer->strings);
    key_table_clear(&writer->frames);
    key_table_clear(&writer->nodes);
    key_table_clear(&writer->stack_ids);
    key_table_clear(&writer->list_names);
    key_table_clear(&writer->threads);
    key_table_clear(&writer->targets);
    ZSTD_freeCCtx(writer->zstd);
    free(writer->before.data);
    free(writer);
}

uint32_t book_writer_pages(const book_writer *writer)
{
    return writer->pages;
}

uint64_t book_writer_size(const book_writer *writer)
{
    const book_counts counts = {.content = writer->before.length,
                                .string_bytes = writer->strings.bytes,
                                .strings = writer->strings.count,
                                .frames = writer->frames.count,
                                .nodes = writer->nodes.count + 1, /* the root */
                                .stacks = writer->stack_ids.count,
                                .lists = writer->list_names.count,
                                .keys = writer->key_count,
                                .threads = writer->threads.count,
                                .targets = writer->targets.count};
    return book__size(&counts);
}

/* ---- rows ---- */

/* A row of the window, and its key's number in the list where it has one. */
typedef struct row_place {
    uint32_t row;
    uint32_t key;
    const profile_stack *stack; /* of new ones, for their order */
    const uint32_t *stack_frames;
} row_place;

static int by_key(const void *left, const void *right)
{
    const row_place *a = left;
    const row_place *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* Stacks that have much in common next to one another: by their frames from the root. */
static int by_path(const void *left, const void *right)
{
    const row_place *a = left;
    const row_place *b = right;
    const uint32_t *x = a->stack_frames + a->stack->first + a->stack->depth;
    const uint32_t *y = b->stack_frames + b->stack->first + b->stack->depth;
    uint32_t shorter = a->stack->depth < b->stack->depth ? a->stack->depth : b->stack->depth;
    for (uint32_t i = 0; i < shorter; i++) {
        if (*--x != *--y)
            return *x < *y ? -1 : 1;
    }
    if (a->stack->depth != b->stack->depth)
        return a->stack->depth < b->stack->depth ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool find_key(page *p, const key_list *list, const batch_row *row, uint32_t *number)
{
    book_key key = {.facet = row->facet};
    const string_table *strings = &p->one->strings;
    if (p->stack_map[row->stack] != 0)
        key.stack = p->stack_map[row->stack] - 1;
    else if (key_table_find(&p->to->stack_ids, p->one->stacks[row->stack].id, &key.stack))
        p->stack_map[row->stack] = key.stack + 1;
    else
        return false;
    return book__find_string(p, strings, row->pool_str, &key.pool) &&
           book__find_string(p, strings, row->object_str, &key.object) &&
           key_table_find(&list->keys, &key, number);
}

static void write_new_key(page *p, key_list *list, row_place *place)
{
    const batch_row *row = &p->one->rows[place->row];
    book_key key = {.facet = row->facet};
    bool is_new = false;
    PUT(p, key_stack, book__refer_stack(p, row->stack, &key.stack));
    PUT(p, key_pool, book__refer_string(p, row->pool_str, &key.pool));
    PUT(p, key_facet, row->facet);
    PUT(p, key_object, book__refer_string(p, row->object_str, &key.object));
    p->failed |= key_table_add(&list->keys, &key, &place->key, &is_new) != 0;
    p->failed |= !is_new; /* a row twice */
    p->to->key_count++;
}

/* The rows up to `end`, those of known keys first; returns how many these are. */
static size_t find_places(page *p, const key_list *list, size_t end, row_place *places)
{
    size_t known = 0;
    size_t fresh = 0;
    for (size_t row = p->row; row < end; row++) {
        row_place place = {.row = (uint32_t)row,
                           .stack = &p->one->stacks[p->one->rows[row].stack],
                           .stack_frames = p->one->stack_frames};
        if (find_key(p, list, &p->one->rows[row], &place.key))
            places[known++] = place;
        else
            places[end - p->row - ++fresh] = place;
    }
    return known;
}

static bool are_as_before(const page *p, uint32_t list, const row_place *places, size_t count)
{
    if (p->last.keys == NULL || p->last.list != list || p->last.count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (p->last.keys[i] != places[i].key)
            return false;
    }
    return true;
}

/* What holds of a window's rows and threads alike. */
static uint32_t form_of_values(const batch_window *window, const batch_row *rows, size_t row_count,
                               const batch_thread *threads, size_t thread_count)
{
    uint64_t interval = window->totals.interval;
    bool by_interval = true;
    bool is_samples = true;
    bool is_raw = true;
    for (size_t i = 0; i < row_count; i++) {
        by_interval = by_interval && rows[i].raw_value == rows[i].samples * interval;
        is_samples = is_samples && rows[i].raw_value == rows[i].samples;
        is_raw = is_raw && rows[i].value == rows[i].raw_value;
    }
    for (size_t i = 0; i < thread_count; i++) {
        by_interval = by_interval && threads[i].raw_value == threads[i].samples * interval;
        is_samples = is_samples && threads[i].raw_value == threads[i].samples;
        is_raw = is_raw && threads[i].value == threads[i].raw_value;
    }
    return (is_samples    ? FORM(RAW_IS_SAMPLES)
            : by_interval ? FORM(RAW_BY_INTERVAL)
                          : 0) |
           (is_raw ? FORM(VALUE_IS_RAW) : 0);
}

static uint32_t form_of_seconds(const batch_window *window, const batch_second *seconds,
                                size_t count)
{
    uint64_t interval = window->totals.interval;
    bool by_interval = interval > 1;
    for (size_t i = 0; i < count && by_interval; i++)
        by_interval = seconds[i].value % interval == 0;
    return by_interval ? FORM(SECONDS_BY_INTERVAL) : 0;
}

static void write_values(page *p, uint32_t form, uint64_t samples, uint64_t raw, uint64_t value,
                         bool of_row)
{
    bool has_raw = (form & (FORM(RAW_IS_SAMPLES) | FORM(RAW_BY_INTERVAL))) == 0;
    bool has_value = (form & FORM(VALUE_IS_RAW)) == 0;
    bool has_samples =
        (form & (of_row ? FORM(SAMPLES_AS_BEFORE) : FORM(THREAD_SAMPLES_AS_BEFORE))) == 0;
    if (of_row) {
        if (has_samples)
            PUT(p, row_samples, samples);
        if (has_raw)
            PUT(p, row_raw, raw);
        if (has_value)
            PUT(p, row_value, zigzag(value - raw));
        return;
    }
    if (has_samples)
        PUT(p, thread_samples, samples);
    if (has_raw)
        PUT(p, thread_raw, raw);
    if (has_value)
        PUT(p, thread_value, zigzag(value - raw));
}

/* Remembers the window's rows; true where their samples are those of the window before. */
static bool note_rows(page *p, uint32_t list, const row_place *places, size_t count, bool as_before)
{
    uint32_t *keys = malloc((count + 1) * sizeof(*keys));
    uint64_t *samples = malloc((count + 1) * sizeof(*samples));
    if (keys == NULL || samples == NULL) {
        free(keys);
        free(samples);
        p->failed = true;
        return false;
    }
    bool same = as_before;
    for (size_t i = 0; i < count; i++) {
        keys[i] = places[i].key;
        samples[i] = p->one->rows[places[i].row].samples;
        same = same && p->last.samples[i] == samples[i];
    }
    free(p->last.keys);
    free(p->last.samples);
    p->last.list = list;
    p->last.keys = keys;
    p->last.samples = samples;
    p->last.count = count;
    return same;
}

/* The rows' keys, in the page's order, into places; returns the form's bits of rows. */
static uint32_t write_keys(page *p, key_list *list, uint32_t list_number, row_place *places,
                           size_t end)
{
    size_t count = end - p->row;
    size_t known = find_places(p, list, end, places);
    qsort(places, known, sizeof(*places), by_key);
    qsort(places + known, count - known, sizeof(*places), by_path);
    bool as_before = known == count && are_as_before(p, list_number, places, count);
    PUT(p, window_known, as_before ? 0 : (uint32_t)known);
    PUT(p, window_new, (uint32_t)(count - known));
    uint32_t next = 0;
    for (size_t i = 0; i < known && !as_before; i++) {
        PUT(p, row_gap, places[i].key - next);
        next = places[i].key + 1;
    }
    for (size_t i = known; i < count && !p->failed; i++)
        write_new_key(p, list, &places[i]);
    bool same_samples = note_rows(p, list_number, places, count, as_before);
    return (as_before ? FORM(ROWS_AS_BEFORE) : 0) | (same_samples ? FORM(SAMPLES_AS_BEFORE) : 0);
}

static void write_seconds(page *p, uint32_t form, uint64_t interval, size_t end)
{
    uint64_t unit = (form & FORM(SECONDS_BY_INTERVAL)) != 0 ? interval : 1;
    uint32_t series = 0;
    while (p->second < end) {
        uint32_t pool = p->one->seconds[p->second].pool_str;
        uint32_t number = 0;
        uint32_t length = 0;
        uint32_t next = 0;
        uint64_t last = 0;
        PUT(p, series_pool, book__refer_string(p, pool, &number));
        for (; p->second < end && p->one->seconds[p->second].pool_str == pool; p->second++) {
            const batch_second *at = &p->one->seconds[p->second];
            p->failed |= at->second < next;
            PUT(p, second_gap, at->second - next);
            PUT(p, second_value, zigzag(at->value / unit - last));
            next = at->second + 1;
            last = at->value / unit;
            length++;
        }
        PUT(p, series_length, length);
        series++;
    }
    PUT(p, window_series, series);
}

/* ---- threads ---- */

static bool find_thread(page *p, const batch_thread *from, book_thread *key, uint32_t *number)
{
    *key = (book_thread){.os_tid = from->os_tid, .java_tid = from->java_tid};
    return book__find_string(p, &p->one->strings, from->name_str, &key->name) &&
           book__find_string(p, &p->one->strings, from->pool_str, &key->pool) &&
           key_table_find(&p->to->threads, key, number);
}

/* Whether the window's threads are those of the window before, and their samples, too. */
static uint32_t form_of_threads(page *p, size_t end)
{
    size_t count = end - p->thread;
    bool samples = true;
    if (p->last.threads == NULL || p->last.thread_count != count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const batch_thread *at = &p->one->threads[p->thread + i];
        book_thread key;
        uint32_t number = 0;
        if (!find_thread(p, at, &key, &number) || number != p->last.threads[i])
            return 0;
        samples = samples && p->last.thread_samples[i] == at->samples;
    }
    return FORM(THREADS_AS_BEFORE) | (samples ? FORM(THREAD_SAMPLES_AS_BEFORE) : 0);
}

static void write_thread(page *p, const batch_thread *from, uint64_t next, uint32_t *number)
{
    book_thread key;
    bool is_new = false;
    if (find_thread(p, from, &key, number)) {
        uint64_t step = 1 + zigzag(*number - next);
        p->failed |= step > UINT32_MAX;
        PUT(p, thread_step, (uint32_t)step);
        return;
    }
    key = (book_thread){.os_tid = from->os_tid, .java_tid = from->java_tid};
    PUT(p, thread_step, 0);
    PUT(p, thread_os_tid, from->os_tid);
    PUT(p, thread_java_tid, from->java_tid);
    PUT(p, thread_name, book__refer_string(p, from->name_str, &key.name));
    PUT(p, thread_pool, book__refer_string(p, from->pool_str, &key.pool));
    p->failed |= key_table_add(&p->to->threads, &key, number, &is_new) != 0;
}

static void write_threads(page *p, uint32_t form, size_t end)
{
    size_t count = end - p->thread;
    bool as_before = (form & FORM(THREADS_AS_BEFORE)) != 0;
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));
    uint64_t *samples = malloc((count + 1) * sizeof(*samples));
    p->failed |= numbers == NULL || samples == NULL;
    for (size_t i = 0; i < count && !p->failed; i++) {
        const batch_thread *at = &p->one->threads[p->thread + i];
        if (as_before)
            numbers[i] = p->last.threads[i];
        else
            write_thread(p, at, i > 0 ? (uint64_t)numbers[i - 1] + 1 : 0, &numbers[i]);
        samples[i] = at->samples;
        write_values(p, form, at->samples, at->raw_value, at->value, false);
    }
    PUT(p, window_threads, as_before ? 0 : (uint32_t)count);
    free(p->last.threads);
    free(p->last.thread_samples);
    p->last.threads = numbers;
    p->last.thread_samples = samples;
    p->last.thread_count = count;
    p->thread = end;
}

/* ---- windows ---- */

static void write_span(page *p, const batch_window *window, uint64_t before_ms)
{
    uint32_t number = 0;
    PUT(p, window_type, window->totals.type);
    PUT(p, window_start, zigzag(window->start_ms - before_ms));
    PUT(p, window_length, window->length_ms);
    PUT(p, window_missed, window->length_ms - window->covered_ms);
    PUT(p, window_engine, book__refer_string(p, window->engine_str, &number));
    PUT(p, window_interval, window->totals.interval);
    PUT(p, window_truncated, window->totals.truncated_raw);
    PUT(p, window_dropped, window->totals.dropped_raw);
    PUT(p, window_dropped_stacks, window->totals.dropped_stacks);
    PUT(p, window_lost, window->totals.lost_events);
}

/* The items of a window that follow `at`, by their member `window`. */
#define END_OF(p, items, count, at, index)                                                         \
    while ((at) < (p)->one->count && (p)->one->items[at].window == (index))                        \
    (at)++

static void write_window(page *p, uint32_t index)
{
    const batch *one = p->one;
    const batch_window *window = &one->windows[index];
    size_t rows_end = p->row;
    size_t seconds_end = p->second;
    size_t threads_end = p->thread;
    END_OF(p, rows, row_count, rows_end, index);
    END_OF(p, seconds, second_count, seconds_end, index);
    END_OF(p, threads, thread_count, threads_end, index);
    batch_target target;
    uint32_t list_number = 0;
    book__write_window_target(p, window->target, &target);
    write_span(p, window, index == 0 ? one->created_ms : one->windows[index - 1].start_ms);
    key_list *list = book__write_list(p, &target, window->totals.type, &list_number);
    size_t count = rows_end - p->row;
    row_place *places = malloc((count + 1) * sizeof(*places));
    if (list == NULL || places == NULL || p->failed) {
        free(places);
        p->failed = true;
        return;
    }
    uint32_t form = form_of_values(window, one->rows + p->row, count, one->threads + p->thread,
                                   threads_end - p->thread) |
                    form_of_seconds(window, one->seconds + p->second, seconds_end - p->second) |
                    form_of_threads(p, threads_end);
    form |= write_keys(p, list, list_number, places, rows_end);
    PUT(p, window_form, form);
    for (size_t i = 0; i < count; i++) {
        const batch_row *row = &one->rows[places[i].row];
        write_values(p, form, row->samples, row->raw_value, row->value, true);
    }
    free(places);
    p->row = rows_end;
    write_seconds(p, form, window->totals.interval, seconds_end);
    write_threads(p, form, threads_end);
}

/* ---- the page ---- */

static int compress_with(ZSTD_CCtx *zstd, const char *prefix, size_t prefix_length,
                         const book_content *from, uint8_t **out, size_t *length)
{
    size_t room = ZSTD_compressBound(from->length);
    *out = malloc(room);
    if (*out == NULL)
        return -1;
    (void)ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_refPrefix(zstd, prefix, prefix_length);
    *length = ZSTD_compress2(zstd, *out, room, from->data, from->length);
    if (!ZSTD_isError(*length))
        return 0;
    free(*out);
    *out = NULL;
    return -1;
}

/* The page's content as it is sent; it is then the one before. */
static int compress(book_writer *to, size_t bytes_before, const page_content *content,
                    uint8_t **out, size_t *length)
{
    book_content packed = {NULL, 0};
    size_t prefix_length = 0;
    char *prefix = book__prefix(&to->strings, bytes_before, &to->before, &prefix_length);
    int rc = prefix != NULL && message_pack(&content->base, &packed.data, &packed.length) == 0
                 ? compress_with(to->zstd, prefix, prefix_length, &packed, out, length)
                 : -1;
    free(prefix);
    free(to->before.data);
    book__trim(&packed);
    to->before = packed;
    return rc;
}

static int begin_page(page *p)
{
    page_content *content = malloc(sizeof(*content));
    Hotstack__V1__TargetColumns *targets = malloc(sizeof(*targets));
    p->content = content;
    p->string_map = calloc(p->one->strings.count + 1, sizeof(uint32_t));
    p->frame_map = calloc(p->one->frames.count + 1, sizeof(uint32_t));
    p->stack_map = calloc(p->one->stack_ids.count + 1, sizeof(uint32_t));
    if (content != NULL)
        hotstack__v1__page_content__init(content);
    if (content == NULL || targets == NULL) {
        free(targets);
        return -1;
    }
    hotstack__v1__target_columns__init(targets);
    content->targets = targets;
    return p->string_map != NULL && p->frame_map != NULL && p->stack_map != NULL ? 0 : -1;
}

static void end_page(page *p)
{
    if (p->content != NULL) {
        p->content->collector = NULL; /* these two are borrowed */
        p->content->string_data = (ProtobufCBinaryData){0};
        hotstack__v1__page_content__free_unpacked(p->content, NULL);
    }
    free(p->string_map);
    free(p->frame_map);
    free(p->stack_map);
    free(p->last.keys);
    free(p->last.samples);
    free(p->last.threads);
    free(p->last.thread_samples);
}

static int pack_page(const book_writer *to, const batch *one, const uint8_t digest[16],
                     uint8_t *content, size_t content_length, uint8_t **out, size_t *length)
{
    Hotstack__V1__ProfileBatch message = HOTSTACK__V1__PROFILE_BATCH__INIT;
    Hotstack__V1__BookPage book_page = HOTSTACK__V1__BOOK_PAGE__INIT;
    book_page.book = to->number;
    book_page.number = to->pages;
    book_page.content = (ProtobufCBinaryData){.len = content_length, .data = content};
    message.batch_id =
        (ProtobufCBinaryData){.len = BATCH_ID_SIZE, .data = (uint8_t *)(uintptr_t)one->id};
    message.digest = (ProtobufCBinaryData){.len = 16, .data = (uint8_t *)(uintptr_t)digest};
    message.page = &book_page;
    return message_pack(&message.base, out, length);
}

static void write_content(page *p, const Hotstack__V1__Collector *sender)
{
    const batch *one = p->one;
    if (p->to->pages == 0)
        p->content->collector = (Hotstack__V1__Collector *)(uintptr_t)sender;
    p->content->day = one->day;
    p->content->created_ms = one->created_ms;
    for (uint32_t i = 0; i < one->window_count && !p->failed; i++)
        write_window(p, i);
    p->failed |= p->row != one->row_count || p->second != one->second_count ||
                 p->thread != one->thread_count;
}

int book_write(book_writer *writer, const batch *one, const Hotstack__V1__Collector *sender,
               const uint8_t digest[16], uint8_t **out, size_t *length)
{
    page p = {.to = writer, .one = one};
    uint8_t *content = NULL;
    size_t content_length = 0;
    uint32_t empty = 0;
    size_t bytes_before = writer->strings.bytes;
    *out = NULL;
    p.failed = begin_page(&p) != 0 || string_table_add(&writer->strings, "", 0, &empty) != 0;
    if (!p.failed)
        write_content(&p, sender);
    if (!p.failed) {
        p.content->string_data =
            (ProtobufCBinaryData){.len = writer->strings.bytes - bytes_before,
                                  .data = (uint8_t *)writer->strings.data + bytes_before};
        p.failed = compress(writer, bytes_before, p.content, &content, &content_length) != 0 ||
                   pack_page(writer, one, digest, content, content_length, out, length) != 0;
    }
    end_page(&p);
    free(content);
    writer->pages++;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): protobuf-c frees the content in end_page */
    return p.failed ? -1 : 0;
}
