/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/reader_impl.h"
#include "read/text_impl.h"

#include <string.h>

static jfr__frame_type frame_type_of(jfr_str description, jfr_producer producer)
{
    static const struct {
        const char *description;
        jfr__frame_type type;
    } known[] = {
        {"Interpreted", {JFR_FRAME_JAVA, JFR_TIER_INTERPRETED}},
        {"JIT compiled", {JFR_FRAME_JAVA, JFR_TIER_JIT}},
        {"C1 compiled", {JFR_FRAME_JAVA, JFR_TIER_C1}},
        {"Inlined", {JFR_FRAME_JAVA, JFR_TIER_INLINED}},
        {"Native", {JFR_FRAME_NATIVE, JFR_TIER_NONE}},
        {"C++", {JFR_FRAME_JVM, JFR_TIER_NONE}},
        {"Kernel", {JFR_FRAME_KERNEL, JFR_TIER_NONE}},
    };
    /* The JDK records Java frames only: its "Native" is a Java method declared native. */
    if (producer == JFR_PRODUCER_JDK && jfr__str_is(description, "Native"))
        return (jfr__frame_type){JFR_FRAME_JAVA, JFR_TIER_NATIVE};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (jfr__str_is(description, known[i].description))
            return known[i].type;
    }
    return (jfr__frame_type){JFR_FRAME_UNKNOWN, JFR_TIER_NONE};
}

static uint8_t state_of(jfr_str name)
{
    if (jfr__str_is(name, "STATE_RUNNABLE"))
        return JFR_STATE_RUNNABLE;
    if (jfr__str_is(name, "STATE_IN_NATIVE"))
        return JFR_STATE_NATIVE;
    static const char *const waiting[] = {"STATE_SLEEPING", "STATE_IN_OBJECT_WAIT", "STATE_PARKED",
                                          "STATE_BLOCKED_ON_MONITOR_ENTER"};
    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
        if (jfr__str_starts(name, waiting[i])) /* also ..._TIMED */
            return JFR_STATE_SLEEPING;
    }
    return JFR_STATE_UNKNOWN;
}

/* Reads the frame types and thread states once. They are few, and are recognised by name, because
 * ids differ from chunk to chunk.
 */
int jfr__frame_types_read(jfr_chunk *chunk, jfr_error *err)
{
    for (uint64_t id = 0; id < JFR__SMALL_IDS; id++) {
        jfr_str text;
        int rc = jfr__pool_text(chunk, JFR__POOL_FRAME_TYPE, id, &text, err);
        if (rc < 0 && rc != JFR_ERR_FORMAT)
            return rc;
        chunk->frame_types[id] = frame_type_of(text, chunk->producer);
        rc = jfr__pool_text(chunk, JFR__POOL_STATE, id, &text, err);
        if (rc < 0 && rc != JFR_ERR_FORMAT)
            return rc;
        chunk->states[id] = state_of(text);
    }
    return 0;
}

static int read_class_name(jfr_chunk *chunk, uint64_t id, jfr_str *out, jfr_error *err)
{
    jfr_class klass = {{NULL, 0}};
    uint32_t index = jfr__idmap_find(&chunk->pools[JFR__POOL_CLASS].index, id);
    int rc = index != JFR_NONE ? jfr_chunk_class(chunk, index, &klass, err) : 0;
    *out = klass.name;
    return rc;
}

/* Fills the method of a pool entry. Damage in the entry only leaves its strings null. */
static int decode_method(jfr_chunk *chunk, uint32_t index, bool descriptor, jfr_method *out,
                         jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, JFR__POOL_METHOD, index, slots, err);
    if (rc == 0)
        rc = jfr__pool_text(chunk, JFR__POOL_SYMBOL, slots[JFR__SLOT_NAME], &out->name, err);
    if (rc == 0)
        rc = read_class_name(chunk, slots[JFR__SLOT_TYPE], &out->class_name, err);
    if (rc == 0 && descriptor)
        rc = jfr__pool_text(chunk, JFR__POOL_SYMBOL, slots[JFR__SLOT_DESCRIPTOR], &out->descriptor,
                            err);
    return rc == JFR_ERR_FORMAT ? 0 : rc;
}

/* Returns the method, with all its strings, that the chunk keeps. */
static int keep_method(jfr_chunk *chunk, uint32_t index, const jfr_method **out, jfr_error *err)
{
    if (chunk->methods == NULL)
        chunk->methods =
            jfr__arena_zalloc(&chunk->arena, chunk->info.method_count, sizeof(*chunk->methods));
    if (chunk->methods == NULL)
        return jfr__arena_fail(&chunk->arena, err);
    jfr__method_entry *entry = &chunk->methods[index];
    if (!entry->decoded) {
        int rc = decode_method(chunk, index, true, &entry->method, err);
        if (rc < 0)
            return rc;
        entry->decoded = true;
    }
    *out = &entry->method;
    return 0;
}

/* Reads only the names. A name that had to be converted is kept. */
static int read_names(jfr_chunk *chunk, uint32_t index, jfr_method *out, jfr_error *err)
{
    if (chunk->methods == NULL) {
        int rc = decode_method(chunk, index, false, out, err);
        if (rc < 0 || jfr__lies_in_file(chunk, out->name))
            return rc;
    }
    const jfr_method *kept;
    int rc = keep_method(chunk, index, &kept, err);
    if (rc == 0)
        *out = (jfr_method){.class_name = kept->class_name, .name = kept->name};
    return rc;
}

/* Gives the method of a frame. `room` is that of jfr__frame_name. */
static int get_method(jfr_chunk *chunk, uint32_t index, jfr_method *room, const jfr_method **out,
                      jfr_error *err)
{
    static const jfr_method unknown;
    *out = &unknown;
    if (index == JFR_NONE)
        return 0;
    if (room == NULL)
        return keep_method(chunk, index, out, err);
    *room = unknown;
    *out = room;
    return read_names(chunk, index, room, err);
}

/*
 * async-profiler uses names in brackets for frames that its unwinder could not resolve
 * (frameName.cpp, profiler.cpp asgctError): these frames have no kind.
 */
static bool is_unwinder_note(jfr_str name)
{
    static const char *const notes[] = {"[unknown", "[not_walkable", "[no_Java_frame",
                                        "[break_",  "[skipped",      "[deopt"};
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        if (jfr__str_starts(name, notes[i]))
            return true;
    }
    return false;
}

/*
 * async-profiler's "Native" and "C++" distinguish C names from mangled names. The library, which is
 * in the field of the class, shows whether a function is HotSpot's; a C++ function without a
 * library counts as HotSpot's.
 */
static uint8_t native_kind(uint8_t kind, const jfr_method *method)
{
    if (is_unwinder_note(method->name))
        return JFR_FRAME_UNKNOWN;
    if (method->class_name.len == 0)
        return kind;
    return jfr__str_is(method->class_name, "libjvm.so") ? JFR_FRAME_JVM : JFR_FRAME_NATIVE;
}

int jfr__frame_name(jfr_chunk *chunk, jfr_frame *frame, jfr_method *room, jfr_error *err)
{
    int rc = get_method(chunk, frame->method_index, room, &frame->method, err);
    if (rc == 0 && (frame->kind == JFR_FRAME_NATIVE || frame->kind == JFR_FRAME_JVM))
        frame->kind = native_kind(frame->kind, frame->method);
    return rc;
}

static int decode_frame(jfr_chunk *chunk, jfr__cursor *c, jfr_frame *out, jfr_error *err)
{
    uint64_t slots[JFR__POOL_SLOTS] = {0};
    uint64_t offset = jfr__cursor_offset(c);
    jfr__plan_run(&chunk->frame_plan, c, slots);
    if (c->failed)
        return jfr__fail(err, JFR_ERR_FORMAT, offset, "A stack's frame cannot be decoded.");
    uint64_t type = slots[JFR__SLOT_TYPE];
    jfr__frame_type kind = {JFR_FRAME_UNKNOWN, JFR_TIER_NONE};
    if (type < JFR__SMALL_IDS)
        kind = chunk->frame_types[type];
    *out = (jfr_frame){
        .method_index =
            jfr__idmap_find(&chunk->pools[JFR__POOL_METHOD].index, slots[JFR__SLOT_METHOD]),
        .line = (uint32_t)slots[JFR__SLOT_LINE],
        .bci = (int32_t)slots[JFR__SLOT_BCI],
        .kind = kind.kind,
        .tier = kind.tier,
    };
    return jfr__frame_name(chunk, out, NULL, err);
}

static int bad_index(jfr_error *err, const char *what, uint32_t index, uint32_t count)
{
    return jfr__fail(err, JFR_ERR_USAGE, 0, "%s %u does not exist: the chunk has %u.", what, index,
                     count);
}

int jfr_chunk_stack(jfr_chunk *chunk, uint32_t index, jfr_stack *out, jfr_error *err)
{
    if (index >= chunk->info.stack_count)
        return bad_index(err, "Stack", index, chunk->info.stack_count);
    uint64_t slots[JFR__POOL_SLOTS];
    int rc = jfr__pool_entry(chunk, JFR__POOL_STACK, index, slots, err);
    if (rc < 0)
        return rc;
    jfr__cursor c = jfr__chunk_cursor(chunk, slots[JFR__SLOT_FRAMES], chunk->end);
    uint32_t count = slots[JFR__SLOT_FRAMES] != 0 ? jfr__read_count(&c) : 0;
    if (chunk->frame_plan.count == 0)
        count = 0;
    bool truncated = slots[JFR__SLOT_TRUNCATED] != 0;
    if (count > chunk->file->options.max_stack_frames) {
        count = chunk->file->options.max_stack_frames;
        truncated = true;
    }
    void *frames = chunk->frames;
    if (jfr__grow(&chunk->file->allocator, &frames, &chunk->frame_cap, count,
                  sizeof(*chunk->frames)) < 0)
        return jfr__fail_nomem(err);
    chunk->frames = frames;
    for (uint32_t i = 0; i < count; i++) {
        rc = decode_frame(chunk, &c, &chunk->frames[i], err);
        if (rc < 0)
            return rc;
    }
    *out = (jfr_stack){chunk->frames, count, truncated};
    return 0;
}
