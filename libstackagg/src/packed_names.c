/* SPDX-License-Identifier: Apache-2.0 */
/* Names and their groups. */
#include <string.h>

#include "packed_frames_impl.h"

/* Among more names none is looked for in others. */
#define FEW 512u
/* What a name costs that has no line of its own. */
#define COST 4u

static const sagg_frame *group_at(const sagg__packed_frames *frames, uint32_t number)
{
    return frames->frames[frames->groups[number]];
}

/* Names of Java are "class.method". */
static bool has_class(const sagg_frame *frame)
{
    return frame->kind == SAGG_JAVA && frame->class_name.size > 0;
}

static size_t size_of(const sagg_frame *frame)
{
    return (has_class(frame) ? frame->class_name.size + 1 : 0) + frame->method.size;
}

/* ---- names within names ---- */

/* Written as it is, a character a byte. */
static bool is_plain_text(sagg_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < ' ' || text.data[i] > '~' || strchr("\"<\\", text.data[i]) != NULL)
            return false;
    return true;
}

static bool is_plain(const sagg_frame *frame)
{
    return is_plain_text(frame->method) && (!has_class(frame) || is_plain_text(frame->class_name));
}

static bool same_class(const sagg_frame *a, const sagg_frame *b)
{
    return a->class_name.size == b->class_name.size &&
           memcmp(a->class_name.data, b->class_name.data, a->class_name.size) == 0;
}

/* A method of Java begins another one of its class; a symbol stands anywhere in another. */
static bool stands_within(const sagg_frame *part, const sagg_frame *whole, uint32_t *offset)
{
    sagg_str what = part->method;
    sagg_str text = whole->method;
    if (what.size >= text.size || has_class(part) != has_class(whole))
        return false;
    if (has_class(part)) {
        *offset = 0;
        return same_class(part, whole) && memcmp(text.data, what.data, what.size) == 0;
    }
    for (uint32_t at = 0; at <= text.size - what.size; at++) {
        *offset = at;
        if (memcmp(text.data + at, what.data, what.size) == 0)
            return true;
    }
    return false;
}

/* The longest: it stands within no other. */
static void find_host(sagg__packed_frames *frames, uint32_t name)
{
    const sagg_frame *part = sagg__packed_name(frames, name);
    size_t longest = 0;
    for (uint32_t i = 0; i < frames->name_count; i++) {
        const sagg_frame *whole = sagg__packed_name(frames, i);
        uint32_t offset;
        if (size_of(whole) <= longest || !is_plain(whole) || !stands_within(part, whole, &offset))
            continue;
        longest = size_of(whole);
        frames->host[name] = i + 1;
        frames->offset[name] = offset;
    }
}

void sagg__packed_find_hosts(sagg__packed_frames *frames)
{
    for (uint32_t i = 0; frames->name_count <= FEW && i < frames->name_count; i++) {
        const sagg_frame *frame = sagg__packed_name(frames, i);
        if (size_of(frame) > COST && is_plain(frame))
            find_host(frames, i);
    }
}

/* The name's line, counted among those of names. */
static uint32_t line_of(const sagg__packed_frames *frames, uint32_t name)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < name; i++)
        line += frames->host[i] == 0 ? 1 : 0;
    return line;
}

static void code_hosts(const sagg__packed_frames *frames, sagg__coder *coder)
{
    uint32_t last = UINT32_MAX;
    sagg__coder_number(coder, SAGG__PLAIN,
                       frames->name_count - line_of(frames, frames->name_count));
    for (uint32_t i = 0; i < frames->name_count; i++) {
        if (frames->host[i] == 0)
            continue;
        uint32_t host = frames->host[i] - 1;
        size_t end = frames->offset[i] + size_of(sagg__packed_name(frames, i));
        sagg__coder_number(coder, SAGG__PLAIN, i - last);
        sagg__coder_number(coder, SAGG__PLAIN, line_of(frames, host));
        sagg__coder_number(coder, SAGG__PLAIN, frames->offset[i]);
        sagg__coder_number(coder, SAGG__PLAIN, size_of(sagg__packed_name(frames, host)) - end);
        last = i;
    }
}

/* ---- writing ---- */

static bool holds_colons(sagg_str text)
{
    for (size_t i = 1; i < text.size; i++)
        if (text.data[i - 1] == ':' && text.data[i] == ':')
            return true;
    return false;
}

/* Names of one look are mostly of one group. */
static uint32_t look_of(const sagg_frame *frame)
{
    bool joined = has_class(frame);
    if (holds_colons(frame->method) || (joined && holds_colons(frame->class_name)))
        return 2;
    bool has_dot = frame->method.size > 0 && memchr(frame->method.data, '.', frame->method.size);
    return joined || has_dot ? 1 : 0;
}

void sagg__packed_names_code(const sagg__packed_frames *frames, sagg__coder *coder)
{
    sagg__coder_number(coder, SAGG__PLAIN, frames->group_count);
    for (uint32_t i = 0; i < frames->group_count; i++)
        sagg__coder_number(coder, SAGG__PLAIN, (uint64_t)group_at(frames, i)->kind);
    code_hosts(frames, coder);
    sagg__coder_number(coder, SAGG__PLAIN, frames->name_count);
    for (uint32_t i = 0; i < frames->name_count; i++) {
        uint32_t look = look_of(sagg__packed_name(frames, i));
        sagg__coder_number(coder, SAGG__GROUP + look, frames->group_of[i]);
    }
}

static void write_name(const sagg_frame *frame, sagg__emit *emit)
{
    sagg__emit_text(emit, "\n");
    if (has_class(frame)) {
        sagg__emit_inside(emit, frame->class_name);
        sagg__emit_text(emit, ".");
    }
    sagg__emit_inside(emit, frame->method);
}

void sagg__packed_names_write(const sagg__packed_frames *frames, sagg__emit *emit)
{
    for (uint32_t i = 0; i < frames->group_count; i++) {
        if (group_at(frames, i)->kind == SAGG_JAVA)
            continue;
        sagg__emit_text(emit, "\n");
        sagg__emit_inside(emit, group_at(frames, i)->class_name);
    }
    for (uint32_t i = 0; i < frames->name_count; i++)
        if (frames->host[i] == 0)
            write_name(sagg__packed_name(frames, i), emit);
}
