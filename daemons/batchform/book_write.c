/* Batches as pages. What a page brings is interned as it is written, in the order of reading. */
#include "book_impl.h"

#include <stackagg/stackagg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 12 };

/* The keys of rows that windows of one service and one family of types have. */
typedef struct key_list {
    key_table keys; /* book_key */
} key_list;

/* What the window before had, in the page's order, for the next one to be told by. */
typedef struct before {
    uint32_t list;
    uint32_t *keys; /* numbers in the list */
    uint64_t *samples;
    size_t count;
    uint32_t *threads; /* numbers */
    uint64_t *thread_samples;
    size_t thread_count;
} before;

struct book_writer {
    uint64_t number;
    uint32_t pages;
    uint64_t key_count;
    string_table strings;
    key_table frames; /* book_frame */
    uint32_t *newest; /* by string: the newest frame of that class and 1 */
    size_t newest_room;
    key_table nodes;      /* book_node; node i + 1 */
    key_table stack_ids;  /* 16 bytes each */
    key_table list_names; /* namespace, workload, family */
    key_list *lists;
    size_t list_room;
    key_table threads; /* book_thread */
    key_table targets; /* batch_target of the book's strings */
    book_content before;
    ZSTD_CCtx *zstd;
};

/* A page on its way. */
typedef struct page {
    book_writer *to;
    const batch *one;
    page_content *content;
    uint32_t *string_map;       /* by string of the batch: the book's and 1 */
    uint32_t *frame_map;        /* by frame of the dictionary: the book's and 1 */
    uint32_t *stack_map;        /* by stack of the batch: the book's and 1 */
    size_t row, second, thread; /* those written so far */
    before last;
    bool failed;
} page;

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

/* ---- columns ---- */

/* Room for one more where a column's count is a power of two. */
static bool grow(void **items, size_t count, size_t width)
{
    if ((count & (count - 1)) != 0)
        return true;
    void *grown = realloc(*items, (count == 0 ? 2 : 2 * count) * width);
    if (grown != NULL)
        *items = grown;
    return grown != NULL;
}

static bool put32(uint32_t **items, size_t *count, uint32_t value)
{
    if (!grow((void **)items, *count, sizeof(**items)))
        return false;
    (*items)[(*count)++] = value;
    return true;
}

static bool put64(uint64_t **items, size_t *count, uint64_t value)
{
    if (!grow((void **)items, *count, sizeof(**items)))
        return false;
    (*items)[(*count)++] = value;
    return true;
}

static bool put_byte(ProtobufCBinaryData *to, uint8_t value)
{
    if (!grow((void **)&to->data, to->len, 1))
        return false;
    to->data[to->len++] = value;
    return true;
}

#define PUT_IN(p, message, field, value)                                                           \
    ((p)->failed |= !_Generic((message)->field, uint32_t *                                         \
                              : put32, uint64_t *                                                  \
                              : put64)(&(message)->field, &(message)->n_##field, (value)))
#define PUT(p, field, value)      PUT_IN((p), (p)->content, field, (value))
#define PUT_BYTE(p, field, value) ((p)->failed |= !put_byte(&(p)->content->field, (value)))

/* ---- tables ---- */

/* A string's ref: 0 where it is new to the book, which it is from then on not any more. */
static uint32_t refer_text(page *p, const char *text, size_t length, uint32_t *number)
{
    size_t known = p->to->strings.count;
    size_t bytes = p->to->strings.bytes;
    if (string_table_add(&p->to->strings, text, length, number) != 0) {
        p->failed = true;
        return 0;
    }
    if (*number < known || *number == 0)
        return *number + 1;
    PUT(p, string_length, (uint32_t)(p->to->strings.bytes - bytes));
    return 0;
}

static uint32_t refer_string(page *p, uint32_t string, uint32_t *number)
{
    if (p->string_map[string] != 0) {
        *number = p->string_map[string] - 1;
        return p->string_map[string];
    }
    size_t length = 0;
    const char *text = string_table_at(&p->one->strings, string, &length);
    uint32_t ref = refer_text(p, text, length, number);
    p->string_map[string] = *number + 1;
    return ref;
}

/* The book's number of a string that it has already. */
static bool find_string(const page *p, const string_table *from, uint32_t index, uint32_t *number)
{
    size_t length = 0;
    const char *text = string_table_at(from, index, &length);
    return string_table_find(&p->to->strings, text, length, number);
}

static uint32_t refer_word(page *p, uint32_t word, uint32_t *number)
{
    size_t length = 0;
    const char *text = string_table_at(&p->one->dictionary, word, &length);
    return refer_text(p, text, length, number);
}

/* How a frame's file is told: 0 as the newest frame of its class has it. */
static void write_file(page *p, uint32_t file, uint32_t class_name, uint32_t *number)
{
    book_writer *to = p->to;
    uint32_t newest = class_name < to->newest_room ? to->newest[class_name] : 0;
    const book_frame *like =
        newest == 0 ? NULL : (const book_frame *)(const void *)to->frames.keys + (newest - 1);
    size_t length = 0;
    size_t like_length = 0;
    const char *text = string_table_at(&p->one->dictionary, file, &length);
    const char *same = string_table_at(&to->strings, like != NULL ? like->file : 0, &like_length);
    if (length == like_length && memcmp(text, same, length) == 0) {
        *number = like != NULL ? like->file : 0;
        PUT(p, frame_file, 0);
    } else {
        PUT(p, frame_file, refer_text(p, text, length, number) + 1);
    }
}

static void note_newest(book_writer *to, uint32_t class_name, uint32_t frame, bool *failed)
{
    if (class_name >= to->newest_room) {
        size_t room = 2 * (size_t)class_name + 64;
        uint32_t *grown = realloc(to->newest, room * sizeof(*grown));
        if (grown == NULL) {
            *failed = true;
            return;
        }
        memset(grown + to->newest_room, 0, (room - to->newest_room) * sizeof(*grown));
        to->newest = grown;
        to->newest_room = room;
    }
    to->newest[class_name] = frame + 1;
}

/* Where strings of the dictionary are in the book already, its frame; false: it is new. */
static bool find_frame(page *p, const profile_frame *from, uint32_t *number)
{
    book_frame key = {.line = from->line, .kind = from->kind};
    const string_table *words = &p->one->dictionary;
    return find_string(p, words, from->class_name, &key.class_name) &&
           find_string(p, words, from->method, &key.method) &&
           find_string(p, words, from->file, &key.file) &&
           key_table_find(&p->to->frames, &key, number);
}

static void add_frame(page *p, const profile_frame *from, uint32_t *number)
{
    book_frame key = {.line = from->line, .kind = from->kind};
    bool is_new = false;
    PUT(p, frame_class, refer_word(p, from->class_name, &key.class_name));
    PUT(p, frame_method, refer_word(p, from->method, &key.method));
    write_file(p, from->file, key.class_name, &key.file);
    PUT(p, frame_line, from->line);
    PUT_BYTE(p, frame_kind, from->kind);
    if (key_table_add(&p->to->frames, &key, number, &is_new) != 0)
        p->failed = true;
    else
        note_newest(p->to, key.class_name, *number, &p->failed);
}

/* A frame's ref; 0 = new, and brought at once. */
static uint32_t refer_frame(page *p, uint32_t frame, uint32_t *number)
{
    if (p->frame_map[frame] != 0) {
        *number = p->frame_map[frame] - 1;
        return *number + 1;
    }
    profile_frame from;
    memcpy(&from, p->one->frames.keys + (size_t)frame * sizeof(from), sizeof(from));
    bool known = find_frame(p, &from, number);
    if (!known)
        add_frame(p, &from, number);
    p->frame_map[frame] = *number + 1;
    return known ? *number + 1 : 0;
}

/* ---- stacks ---- */

/* Frames of a stack from the root, `at` = 0 first. */
static uint32_t frame_from_root(const page *p, const profile_stack *stack, uint32_t at)
{
    return p->one->stack_frames[stack->first + stack->depth - 1 - at];
}

/* The node below `parent` for a frame of the dictionary; false where there is none. */
static bool step_down(page *p, uint32_t frame, uint32_t *node)
{
    book_node key = {.parent = *node};
    uint32_t index = 0;
    if (p->frame_map[frame] == 0) {
        profile_frame from;
        memcpy(&from, p->one->frames.keys + (size_t)frame * sizeof(from), sizeof(from));
        if (!find_frame(p, &from, &index))
            return false;
        p->frame_map[frame] = index + 1;
    }
    key.frame = p->frame_map[frame] - 1;
    if (!key_table_find(&p->to->nodes, &key, &index))
        return false;
    *node = index + 1;
    return true;
}

static void write_stack(page *p, const profile_stack *stack)
{
    uint32_t node = BOOK_ROOT;
    uint32_t at = 0;
    while (at < stack->depth && step_down(p, frame_from_root(p, stack, at), &node))
        at++;
    PUT(p, stack_base, node);
    PUT(p, stack_added, stack->depth - at);
    for (; at < stack->depth && !p->failed; at++) {
        book_node key = {.parent = node};
        bool is_new = false;
        PUT(p, stack_frame, refer_frame(p, frame_from_root(p, stack, at), &key.frame));
        p->failed |= key_table_add(&p->to->nodes, &key, &node, &is_new) != 0;
        node++;
    }
    PUT_BYTE(p, stack_flags, stack->flags);
    p->failed |= stack->normaliser != SAGG_NORMALISE_V1;
}

static uint32_t refer_stack(page *p, uint32_t stack, uint32_t *number)
{
    if (p->stack_map[stack] != 0) {
        *number = p->stack_map[stack] - 1;
        return *number + 1;
    }
    bool is_new = false;
    p->failed |= key_table_add(&p->to->stack_ids, p->one->stacks[stack].id, number, &is_new) != 0;
    p->stack_map[stack] = *number + 1;
    if (!is_new)
        return *number + 1;
    write_stack(p, &p->one->stacks[stack]);
    return 0;
}

/* ---- targets and lists ---- */

static void write_target(page *p, const batch_target *from, batch_target *key)
{
    Hotstack__V1__TargetColumns *to = p->content->targets;
    uint32_t refs[TARGET_TEXTS];
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        uint32_t string = 0;
        uint32_t number = 0;
        memcpy(&string, (const char *)from + batch_target_texts[i], sizeof(string));
        refs[i] = refer_string(p, string, &number);
        memcpy((char *)key + batch_target_texts[i], &number, sizeof(number));
    }
    PUT_IN(p, to, namespace_str, refs[0]);
    PUT_IN(p, to, workload_kind_str, refs[1]);
    PUT_IN(p, to, workload_str, refs[2]);
    PUT_IN(p, to, pod_str, refs[3]);
    PUT_IN(p, to, container_str, refs[4]);
    PUT_IN(p, to, pod_uid_str, refs[5]);
    PUT_IN(p, to, container_id_str, refs[6]);
    PUT_IN(p, to, boot_id_str, refs[7]);
    PUT_IN(p, to, host_pid, from->host_pid);
    PUT_IN(p, to, ns_pid, from->ns_pid);
    PUT_IN(p, to, start_ticks, from->start_ticks);
    PUT_IN(p, to, start_ms, from->start_ms);
    PUT_IN(p, to, jvm_version_str, refs[8]);
    PUT_IN(p, to, jvm_vendor_str, refs[9]);
    PUT_IN(p, to, main_class_str, refs[10]);
    PUT_IN(p, to, app_version_str, refs[11]);
    PUT_IN(p, to, image_str, refs[12]);
}

/* A target as the book knows it; false where one of its strings is new. */
static bool find_target(page *p, const batch_target *from, batch_target *key)
{
    memset(key, 0, sizeof(*key));
    key->host_pid = from->host_pid;
    key->ns_pid = from->ns_pid;
    key->start_ticks = from->start_ticks;
    key->start_ms = from->start_ms;
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        uint32_t string = 0;
        uint32_t number = 0;
        memcpy(&string, (const char *)from + batch_target_texts[i], sizeof(string));
        if (!find_string(p, &p->one->strings, string, &number))
            return false;
        memcpy((char *)key + batch_target_texts[i], &number, sizeof(number));
    }
    return true;
}

/* The target of a window; *key as in the book. */
static void write_window_target(page *p, uint32_t target, batch_target *key)
{
    const batch_target *from = &p->one->targets[target];
    uint32_t number = 0;
    bool is_new = false;
    if (find_target(p, from, key) && key_table_find(&p->to->targets, key, &number)) {
        PUT(p, window_target, number + 1);
        return;
    }
    PUT(p, window_target, 0);
    write_target(p, from, key);
    p->failed |= key_table_add(&p->to->targets, key, &number, &is_new) != 0;
}

/* Types whose rows tend to have the same keys. */
static uint32_t family_of(uint32_t type)
{
    enum { ALLOC_BYTES = 2, ALLOC_OBJECTS = 3, LOCK_COUNT = 4, LOCK_DELAY = 5 };
    return type == ALLOC_OBJECTS ? ALLOC_BYTES : type == LOCK_DELAY ? LOCK_COUNT : type;
}

static key_list *write_list(page *p, const batch_target *target, uint32_t type, uint32_t *number)
{
    book_writer *to = p->to;
    const uint32_t name[] = {target->namespace_str, target->workload_str, family_of(type)};
    bool is_new = false;
    key_list *list = BATCH_NEXT(to->lists, to->list_room, to->list_names.count);
    if (list == NULL || key_table_add(&to->list_names, name, number, &is_new) != 0) {
        p->failed = true;
        return NULL;
    }
    PUT(p, window_list, is_new ? 0 : *number + 1);
    if (is_new)
        *list = (key_list){.keys = {.key_size = sizeof(book_key)}};
    return &to->lists[*number];
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
    return find_string(p, strings, row->pool_str, &key.pool) &&
           find_string(p, strings, row->object_str, &key.object) &&
           key_table_find(&list->keys, &key, number);
}

static void write_new_key(page *p, key_list *list, row_place *place)
{
    const batch_row *row = &p->one->rows[place->row];
    book_key key = {.facet = row->facet};
    bool is_new = false;
    PUT(p, key_stack, refer_stack(p, row->stack, &key.stack));
    PUT(p, key_pool, refer_string(p, row->pool_str, &key.pool));
    PUT(p, key_facet, row->facet);
    PUT(p, key_object, refer_string(p, row->object_str, &key.object));
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
        PUT(p, series_pool, refer_string(p, pool, &number));
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
    return find_string(p, &p->one->strings, from->name_str, &key->name) &&
           find_string(p, &p->one->strings, from->pool_str, &key->pool) &&
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
    PUT(p, thread_name, refer_string(p, from->name_str, &key.name));
    PUT(p, thread_pool, refer_string(p, from->pool_str, &key.pool));
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
    PUT(p, window_engine, refer_string(p, window->engine_str, &number));
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
    write_window_target(p, window->target, &target);
    write_span(p, window, index == 0 ? one->created_ms : one->windows[index - 1].start_ms);
    key_list *list = write_list(p, &target, window->totals.type, &list_number);
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
