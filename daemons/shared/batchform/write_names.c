/* SPDX-License-Identifier: Apache-2.0 */
/* What pages name: strings, frames, stacks, targets and lists, new ones and those of the book. */
#include "write_impl.h"

#include <stackagg/stackagg.h>
#include <stdlib.h>
#include <string.h>

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

bool book__put32(uint32_t **items, size_t *count, uint32_t value)
{
    if (!grow((void **)items, *count, sizeof(**items)))
        return false;
    (*items)[(*count)++] = value;
    return true;
}

bool book__put64(uint64_t **items, size_t *count, uint64_t value)
{
    if (!grow((void **)items, *count, sizeof(**items)))
        return false;
    (*items)[(*count)++] = value;
    return true;
}

bool book__put_byte(ProtobufCBinaryData *to, uint8_t value)
{
    if (!grow((void **)&to->data, to->len, 1))
        return false;
    to->data[to->len++] = value;
    return true;
}

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

uint32_t book__refer_string(page *p, uint32_t string, uint32_t *number)
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
bool book__find_string(const page *p, const string_table *from, uint32_t index, uint32_t *number)
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

/* Where strings of the dictionary are in the book already, its frame; false: it is new. */
static bool find_frame(page *p, const profile_frame *from, uint32_t *number)
{
    book_frame key = {.line = from->line, .kind = from->kind};
    const string_table *words = &p->one->dictionary;
    return book__find_string(p, words, from->class_name, &key.class_name) &&
           book__find_string(p, words, from->method, &key.method) &&
           book__find_string(p, words, from->file, &key.file) &&
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
    book_writer *to = p->to;
    if (key_table_add(&to->frames, &key, number, &is_new) != 0 ||
        array_reserve_zeroed((void **)&to->newest, &to->newest_room, key.class_name,
                             sizeof(*to->newest)) != 0)
        p->failed = true;
    else
        to->newest[key.class_name] = *number + 1;
}

/* The book's number of a frame of the dictionary; false: it is new. */
static bool is_known_frame(page *p, uint32_t frame, uint32_t *number)
{
    uint32_t *known = &p->frame_map[frame];
    if (*known == 0 && find_frame(p, &batch_frames(p->one).frames[frame], number))
        *known = *number + 1;
    *number = *known - 1;
    return *known != 0;
}

/* A frame's ref; 0 = new, and brought at once. */
static uint32_t refer_frame(page *p, uint32_t frame, uint32_t *number)
{
    if (is_known_frame(p, frame, number))
        return *number + 1;
    add_frame(p, &batch_frames(p->one).frames[frame], number);
    p->frame_map[frame] = *number + 1;
    return 0;
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
    if (!is_known_frame(p, frame, &key.frame) || !key_table_find(&p->to->nodes, &key, &index))
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

uint32_t book__refer_stack(page *p, uint32_t stack, uint32_t *number)
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
        refs[i] = book__refer_string(p, *batch_target_text(from, i), batch_target_text(key, i));
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
        if (!book__find_string(p, &p->one->strings, *batch_target_text(from, i),
                               batch_target_text(key, i)))
            return false;
    }
    return true;
}

/* The target of a window; *key as in the book. */
void book__write_window_target(page *p, uint32_t target, batch_target *key)
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

key_list *book__write_list(page *p, const batch_target *target, uint32_t type, uint32_t *number)
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
