/* SPDX-License-Identifier: Apache-2.0 */
/* What pages name: strings, frames, stacks and targets, new ones and those of the book. */
#include "read_impl.h"

#include <stackagg/stackagg.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults ---- */

bool book__fail(reading *in, enum book_result result, const char *format, ...)
{
    va_list arguments;
    if (in->result != BOOK_READ)
        return false;
    in->result = result;
    va_start(arguments, format);
    (void)vsnprintf(in->fault->text, sizeof(in->fault->text), format, arguments);
    va_end(arguments);
    return false;
}

bool book__no_memory(reading *in)
{
    return book__fail(in, BOOK_NO_MEMORY, "No memory to read a page.");
}

/* ---- columns ---- */

bool book__take32(reading *in, const char *name, const uint32_t *items, size_t count, size_t at,
                  uint32_t *out)
{
    if (at >= count)
        return book__fail(in, BOOK_UNREADABLE, "%s has %zu entries; more are asked for.", name,
                          count);
    *out = items[at];
    return true;
}

bool book__take64(reading *in, const char *name, const uint64_t *items, size_t count, size_t at,
                  uint64_t *out)
{
    if (at >= count)
        return book__fail(in, BOOK_UNREADABLE, "%s has %zu entries; more are asked for.", name,
                          count);
    *out = items[at];
    return true;
}

bool book__in_range(reading *in, const char *what, uint64_t number, size_t count)
{
    return number < count ||
           book__fail(in, BOOK_UNREADABLE, "A page names %s %llu; the book has %zu.", what,
                      (unsigned long long)number, count);
}

/* ---- strings ---- */

static bool take_string(reading *in, uint32_t *number)
{
    book *b = in->from;
    uint32_t length = 0;
    const ProtobufCBinaryData *data = &in->content->string_data;
    if (!TAKE(in, string_length, in->at.string, &length))
        return false;
    if (length > STRING_BYTES_MAX || length > data->len - in->at.string_byte || length == 0)
        return book__fail(in, BOOK_UNREADABLE, "string_length: entry %zu is %u.", in->at.string,
                          length);
    if (string_table_append(&b->strings, (const char *)data->data + in->at.string_byte, length) !=
        0)
        return book__no_memory(in);
    in->at.string++;
    in->at.string_byte += length;
    *number = (uint32_t)b->strings.count - 1;
    b->counts.strings = b->strings.count;
    b->counts.string_bytes = b->strings.bytes;
    return array_reserve_zeroed((void **)&b->string_uses, &b->string_use_room, *number,
                                sizeof(*b->string_uses)) == 0 ||
           book__no_memory(in);
}

bool book__resolve_string(reading *in, uint32_t ref, uint32_t *number)
{
    if (ref == 0)
        return take_string(in, number);
    *number = ref - 1; /* "" is there from the start */
    return *number == 0 || book__in_range(in, "string", *number, in->from->strings.count);
}

/* The book's string as one of the batch. */
bool book__use_string(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    if (number == 0) {
        *index = 0;
        return true;
    }
    use *known = &b->string_uses[number];
    if (known->page != b->pages + 1) {
        if (batch_move_string(&in->out->strings, &b->strings, number, index) != 0)
            return book__no_memory(in);
        *known = (use){b->pages + 1, *index};
    }
    *index = known->index;
    return true;
}

/* ---- frames and stacks ---- */

static sagg_str word(const book *b, uint32_t number)
{
    size_t length = 0;
    const char *text = string_table_at(&b->strings, number, &length);
    return (sagg_str){text, length};
}

static bool hash_frame(reading *in, const profile_frame *frame, uint64_t *id)
{
    const book *b = in->from;
    sagg_frame given = {.class_name = word(b, frame->class_name),
                        .method = word(b, frame->method),
                        .line = frame->line,
                        .kind = frame->kind};
    sagg_frame normal;
    char *storage = NULL;
    if (sagg_frame_normalise(&normal, &storage, &given, SAGG_NORMALISE_V1, NULL) != 0)
        return book__no_memory(in);
    sagg_frame_hash(NULL, id, &normal);
    free(storage);
    return true;
}

static bool take_file(reading *in, const profile_frame *frame, uint32_t code, uint32_t *file)
{
    const book *b = in->from;
    uint32_t newest = frame->class_name < b->newest_room ? b->newest[frame->class_name] : 0;
    if (code != 0)
        return book__resolve_string(in, code - 1, file);
    *file = newest != 0 ? b->frames[newest - 1].file : 0;
    return true;
}

static bool take_names(reading *in, size_t at, profile_frame *frame)
{
    enum { KINDS = 5 };
    const ProtobufCBinaryData *kinds = &in->content->frame_kind;
    uint32_t class_ref = 0;
    uint32_t method_ref = 0;
    uint32_t file_code = 0;
    if (!TAKE(in, frame_class, at, &class_ref) || !TAKE(in, frame_method, at, &method_ref) ||
        !TAKE(in, frame_file, at, &file_code) || !TAKE(in, frame_line, at, &frame->line) ||
        !book__resolve_string(in, class_ref, &frame->class_name) ||
        !book__resolve_string(in, method_ref, &frame->method) ||
        !take_file(in, frame, file_code, &frame->file))
        return false;
    if (at >= kinds->len || kinds->data[at] >= KINDS)
        return book__fail(in, BOOK_UNREADABLE, "frame_kind has no kind of a frame at entry %zu.",
                          at);
    frame->kind = kinds->data[at];
    return true;
}

static bool take_frame(reading *in, uint32_t *number)
{
    book *b = in->from;
    profile_frame frame = {0};
    frame_note note = {0};
    if (!take_names(in, in->at.frame++, &frame) || !hash_frame(in, &frame, &note.id))
        return false;
    profile_frame *to = BATCH_NEXT(b->frames, b->frame_room, b->counts.frames);
    frame_note *to_note = BATCH_NEXT(b->frame_notes, b->frame_note_room, b->counts.frames);
    if (to == NULL || to_note == NULL ||
        array_reserve_zeroed((void **)&b->newest, &b->newest_room, frame.class_name,
                             sizeof(*b->newest)) != 0)
        return book__no_memory(in);
    *number = (uint32_t)b->counts.frames++;
    note.newest_before = b->newest[frame.class_name];
    b->newest[frame.class_name] = *number + 1;
    *to = frame;
    *to_note = note;
    return true;
}

static bool take_node(reading *in, uint32_t *node)
{
    book *b = in->from;
    uint32_t ref = 0;
    read_node fresh = {.node = {.parent = *node}, .depth = b->nodes[*node].depth + 1};
    if (!TAKE(in, stack_frame, in->at.stack_frame, &ref))
        return false;
    in->at.stack_frame++;
    if (fresh.depth > in->limits->depth)
        return book__fail(in, BOOK_UNREADABLE, "A stack has more than %llu frames.",
                          (unsigned long long)in->limits->depth);
    if (ref == 0) {
        if (!take_frame(in, &fresh.node.frame))
            return false;
    } else {
        fresh.node.frame = ref - 1;
        if (!book__in_range(in, "frame", fresh.node.frame, b->counts.frames))
            return false;
    }
    read_node *to = BATCH_NEXT(b->nodes, b->node_room, b->counts.nodes);
    if (to == NULL)
        return book__no_memory(in);
    *to = fresh;
    *node = (uint32_t)b->counts.nodes++;
    return true;
}

/* The id of the stack that ends at a node. */
static bool hash_stack(reading *in, read_stack *stack)
{
    book *b = in->from;
    size_t depth = b->nodes[stack->node].depth;
    sagg_stack_id id;
    if (b->frame_id_room < depth + 1) {
        uint64_t *grown = realloc(b->frame_ids, 2 * (depth + 1) * sizeof(*grown));
        if (grown == NULL)
            return book__no_memory(in);
        b->frame_ids = grown;
        b->frame_id_room = 2 * (depth + 1);
    }
    uint32_t node = stack->node;
    for (size_t i = 0; i < depth; i++) {
        b->frame_ids[i] = b->frame_notes[b->nodes[node].node.frame].id;
        node = b->nodes[node].node.parent;
    }
    if (sagg_stack_id_of_frame_ids(&id, b->frame_ids, depth, SAGG_NORMALISE_V1, NULL) != 0)
        return book__no_memory(in);
    memcpy(stack->id, id.bytes, sizeof(stack->id));
    return true;
}

bool book__take_stack(reading *in, uint32_t *number)
{
    book *b = in->from;
    size_t at = in->at.stack++;
    read_stack fresh = {0};
    uint32_t added = 0;
    if (!TAKE(in, stack_base, at, &fresh.node) || !TAKE(in, stack_added, at, &added) ||
        !book__in_range(in, "node", fresh.node, b->counts.nodes))
        return false;
    for (uint32_t i = 0; i < added; i++) {
        if (!take_node(in, &fresh.node))
            return false;
    }
    if (at >= in->content->stack_flags.len)
        return book__fail(in, BOOK_UNREADABLE, "stack_flags has no entry %zu.", at);
    fresh.flags = in->content->stack_flags.data[at];
    read_stack *to = BATCH_NEXT(b->stacks, b->stack_room, b->counts.stacks);
    if (to == NULL || array_reserve_zeroed((void **)&b->stack_uses, &b->stack_use_room,
                                           b->counts.stacks, sizeof(*b->stack_uses)) != 0)
        return book__no_memory(in);
    if (!hash_stack(in, &fresh))
        return false;
    *to = fresh;
    *number = (uint32_t)b->counts.stacks++;
    return true;
}

/* The book's stack as one of the batch. */
bool book__use_stack(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    use *known = &b->stack_uses[number];
    if (known->page == b->pages + 1) {
        *index = known->index;
        return true;
    }
    bool is_new = false;
    uint32_t *used = BATCH_NEXT(b->used, b->used_room, b->used_count);
    if (used == NULL ||
        key_table_add(&in->out->stack_ids, b->stacks[number].id, index, &is_new) != 0)
        return book__no_memory(in);
    if (!is_new)
        return book__fail(in, BOOK_UNREADABLE, "Stack %u has frames that another stack has.",
                          number);
    b->used[b->used_count++] = number;
    *known = (use){b->pages + 1, *index};
    return true;
}

/* ---- targets ---- */

static bool take_target(reading *in, uint32_t *number)
{
    book *b = in->from;
    const Hotstack__V1__TargetColumns *t = in->content->targets;
    size_t at = in->at.target++;
    batch_target fresh;
    uint32_t refs[TARGET_TEXTS] = {0};
    memset(&fresh, 0, sizeof(fresh));
    if (t == NULL)
        return book__fail(in, BOOK_UNREADABLE, "targets is missing.");
    if (!TAKE_OF(in, t, namespace_str, at, &refs[0]) ||
        !TAKE_OF(in, t, workload_kind_str, at, &refs[1]) ||
        !TAKE_OF(in, t, workload_str, at, &refs[2]) || !TAKE_OF(in, t, pod_str, at, &refs[3]) ||
        !TAKE_OF(in, t, container_str, at, &refs[4]) ||
        !TAKE_OF(in, t, pod_uid_str, at, &refs[5]) ||
        !TAKE_OF(in, t, container_id_str, at, &refs[6]) ||
        !TAKE_OF(in, t, boot_id_str, at, &refs[7]) ||
        !TAKE_OF(in, t, host_pid, at, &fresh.host_pid) ||
        !TAKE_OF(in, t, ns_pid, at, &fresh.ns_pid) ||
        !TAKE_OF(in, t, start_ticks, at, &fresh.start_ticks) ||
        !TAKE_OF(in, t, start_ms, at, &fresh.start_ms) ||
        !TAKE_OF(in, t, jvm_version_str, at, &refs[8]) ||
        !TAKE_OF(in, t, jvm_vendor_str, at, &refs[9]) ||
        !TAKE_OF(in, t, main_class_str, at, &refs[10]) ||
        !TAKE_OF(in, t, app_version_str, at, &refs[11]) ||
        !TAKE_OF(in, t, image_str, at, &refs[12]))
        return false;
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        if (!book__resolve_string(in, refs[i], batch_target_text(&fresh, i)))
            return false;
    }
    batch_target *to = BATCH_NEXT(b->targets, b->target_room, b->counts.targets);
    if (to == NULL || array_reserve_zeroed((void **)&b->target_uses, &b->target_use_room,
                                           b->counts.targets, sizeof(*b->target_uses)) != 0)
        return book__no_memory(in);
    *to = fresh;
    *number = (uint32_t)b->counts.targets++;
    return true;
}

static bool use_target(reading *in, uint32_t number, uint32_t *index)
{
    book *b = in->from;
    batch *out = in->out;
    use *known = &b->target_uses[number];
    if (known->page == b->pages + 1) {
        *index = known->index;
        return true;
    }
    batch_target *to = BATCH_NEXT(out->targets, out->target_room, out->target_count);
    if (to == NULL)
        return book__no_memory(in);
    *to = b->targets[number];
    for (size_t i = 0; i < TARGET_TEXTS; i++) {
        uint32_t *text = batch_target_text(to, i);
        if (!book__use_string(in, *text, text))
            return false;
    }
    *index = (uint32_t)out->target_count++;
    *known = (use){b->pages + 1, *index};
    return true;
}

bool book__take_window_target(reading *in, size_t window, uint32_t *index)
{
    uint32_t ref = 0;
    uint32_t number = 0;
    if (!TAKE(in, window_target, window, &ref))
        return false;
    if (ref == 0 ? !take_target(in, &number)
                 : !book__in_range(in, "target", number = ref - 1, in->from->counts.targets))
        return false;
    return use_target(in, number, index);
}
