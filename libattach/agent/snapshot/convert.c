/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/convert.h"

#include <attach/lock_class.h>
#include <string.h>

#define LINE_OF_NATIVE (-2) /* StackTraceElement.getLineNumber of a native method */

/* Thread.State's ordinals are NEW, RUNNABLE, BLOCKED, WAITING, TIMED_WAITING, TERMINATED: one less
 * than our states. */
#define STATES 6

static uint32_t text_of(wire_out *o, jvm *j, jobject object, enum java_method method)
{
    char text[JVM_TEXT_MAX];
    jobject string = jvm_object(j, object, method);
    uint32_t index = out_string(o, text, jvm_text(j, text, string));
    jvm_drop(j, string);
    return index;
}

/* For a carrier that runs a virtual thread, ThreadInfo returns that thread as the lock and as its
 * owner. */
static const char virtual_class[] = "java.lang.VirtualThread";

#define OWNER_FLAGS (THREADS_OWNER_ENDED | THREADS_OWNER_GONE)

static uint32_t lock_of(wire_out *o, jvm *j, jobject lock)
{
    if (lock == NULL)
        return 0;
    out_lock entry = {text_of(o, j, lock, LOCK_CLASS), (uint32_t)jvm_int(j, lock, LOCK_HASH)};
    return out_add_lock(o, &entry);
}

static uint8_t state_of(jvm *j, jobject info)
{
    jobject state = jvm_object(j, info, INFO_STATE);
    jint ordinal = state == NULL ? -1 : jvm_int(j, state, ENUM_ORDINAL);
    jvm_drop(j, state);
    return ordinal < 0 || ordinal >= STATES ? 0 : (uint8_t)(ordinal + 1);
}

/* Reads the lock that the thread waits for and its owner; for a carrier, the virtual thread. */
static void convert_wait(thread_row *row, wire_out *o, jvm *j, jobject info)
{
    char name[JVM_TEXT_MAX];
    jobject lock = jvm_object(j, info, INFO_LOCK);
    jobject class_name = lock == NULL ? NULL : jvm_object(j, lock, LOCK_CLASS);
    size_t n = jvm_text(j, name, class_name);
    jlong owner = jvm_long(j, info, INFO_OWNER);
    uint32_t owner_str = owner > 0 ? text_of(o, j, info, INFO_OWNER_NAME) : 0;
    bool carries = (row->flags & THREADS_CARRIER) && owner > 0 && n == strlen(virtual_class) &&
                   memcmp(name, virtual_class, n) == 0;
    if (carries || owner != row->owner)
        row->flags &= (uint8_t)~OWNER_FLAGS;
    row->carries = carries ? owner : 0;
    row->carries_str = carries ? owner_str : 0;
    row->owner = carries || owner < 0 ? 0 : owner;
    row->owner_str = carries ? 0 : owner_str;
    row->lock = carries ? 0 : lock_of(o, j, lock);
    row->wants_lock = attach_is_lock_class(name, n);
    jvm_drop(j, class_name);
    jvm_drop(j, lock);
}

void convert_info(thread_row *row, wire_out *o, jvm *j, jobject info)
{
    row->name_str = text_of(o, j, info, INFO_NAME);
    row->state = state_of(j, info);
    row->flags = (uint8_t)((row->flags & (THREADS_CARRIER | OWNER_FLAGS)) |
                           (jvm_bool(j, info, INFO_DAEMON) ? THREADS_DAEMON : 0) |
                           (jvm_bool(j, info, INFO_NATIVE) ? THREADS_NATIVE : 0) |
                           (jvm_bool(j, info, INFO_SUSPENDED) ? THREADS_SUSPENDED : 0));
    row->blocked_count = jvm_long(j, info, INFO_BLOCKED_COUNT);
    row->waited_count = jvm_long(j, info, INFO_WAITED_COUNT);
    row->blocked_ms = jvm_long(j, info, INFO_BLOCKED_TIME);
    row->waited_ms = jvm_long(j, info, INFO_WAITED_TIME);
    convert_wait(row, o, j, info);
    row->present = 1;
}

static uint32_t frame_of(wire_out *o, jvm *j, jobject element)
{
    jint line = jvm_int(j, element, FRAME_LINE);
    out_frame frame = {.class_str = text_of(o, j, element, FRAME_CLASS),
                       .method_str = text_of(o, j, element, FRAME_METHOD),
                       .file_str = text_of(o, j, element, FRAME_FILE),
                       .line = line > 0 ? (uint32_t)line : 0,
                       .native = line == LINE_OF_NATIVE};
    return out_add_frame(o, &frame);
}

static void hold(wire_out *o, uint32_t index, int kind, uint32_t depth, uint32_t lock)
{
    if (lock == 0 || out_is_full(o))
        return;
    out_number(o, COL_HELD_THREAD, index);
    out_byte(o, COL_HELD_KIND, (uint8_t)kind);
    out_number(o, COL_HELD_DEPTH, depth);
    out_number(o, COL_HELD_LOCK, lock - 1);
}

static void convert_held(wire_out *o, jvm *j, jobject info, uint32_t index, bool monitors)
{
    jobject array = jvm_object(j, info, monitors ? INFO_MONITORS : INFO_SYNCHRONIZERS);
    size_t n = jvm_length(j, array);
    for (size_t i = 0; i < n && !out_is_full(o); i++) {
        jobject lock = jvm_element(j, array, i);
        jint depth = monitors ? jvm_int(j, lock, MONITOR_DEPTH) : 0;
        if (depth >= 0) /* -1: locked by native code, in no frame */
            hold(o, index, monitors ? THREADS_HELD_MONITOR : THREADS_HELD_SYNCHRONIZER,
                 (uint32_t)depth, lock_of(o, j, lock));
        jvm_drop(j, lock);
    }
    jvm_drop(j, array);
}

bool convert_stack(thread_row *row, wire_out *o, jvm *j, jobject info, uint32_t index,
                   uint32_t max_depth)
{
    jobject array = jvm_object(j, info, INFO_STACK);
    size_t n = jvm_length(j, array), taken = 0;
    if (array == NULL || out_is_full(o)) {
        jvm_drop(j, array);
        return false;
    }
    for (; taken < n && taken < max_depth && !out_is_full(o); taken++) {
        jobject element = jvm_element(j, array, taken);
        uint32_t frame = frame_of(o, j, element);
        out_number(o, COL_STACK_FRAME, frame);
        jvm_drop(j, element);
    }
    jvm_drop(j, array);
    out_number(o, COL_STACK_THREAD, index);
    out_number(o, COL_STACK_DEPTH, taken);
    if (taken < n || taken == max_depth)
        row->flags |= THREADS_DEPTH_CUT;
    convert_held(o, j, info, index, true);
    convert_held(o, j, info, index, false);
    return true;
}

void convert_row(wire_out *o, const thread_row *row)
{
    out_number(o, COL_THREAD_JAVA_TID, (uint64_t)row->tid);
    out_number(o, COL_THREAD_NAME, row->name_str);
    out_byte(o, COL_THREAD_STATE, row->state);
    out_byte(o, COL_THREAD_FLAGS, row->flags);
    out_byte(o, COL_THREAD_WHY, row->why);
    out_known(o, COL_THREAD_CPU, row->cpu_ns);
    out_known(o, COL_THREAD_USER, row->user_ns);
    out_known(o, COL_THREAD_ALLOCATED, row->allocated);
    out_number(o, COL_THREAD_BLOCKED_COUNT, (uint64_t)row->blocked_count);
    out_number(o, COL_THREAD_WAITED_COUNT, (uint64_t)row->waited_count);
    out_known(o, COL_THREAD_BLOCKED_MS, row->blocked_ms);
    out_known(o, COL_THREAD_WAITED_MS, row->waited_ms);
    out_number(o, COL_THREAD_LOCK, row->lock);
    out_number(o, COL_THREAD_OWNER, (uint64_t)row->owner);
    out_number(o, COL_THREAD_OWNER_NAME, row->owner_str);
    out_number(o, COL_THREAD_CARRIES, (uint64_t)row->carries);
    out_number(o, COL_THREAD_CARRIES_NAME, row->carries_str);
}
