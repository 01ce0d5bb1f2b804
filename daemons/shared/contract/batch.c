/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/batch.h>

#include <stdlib.h>
#include <string.h>

#define TEXT(field) offsetof(batch_target, field)

static const size_t texts[TARGET_TEXTS] = {
    TEXT(namespace_str),   TEXT(workload_kind_str), TEXT(workload_str),     TEXT(pod_str),
    TEXT(container_str),   TEXT(pod_uid_str),       TEXT(container_id_str), TEXT(boot_id_str),
    TEXT(jvm_version_str), TEXT(jvm_vendor_str),    TEXT(main_class_str),   TEXT(app_version_str),
    TEXT(image_str),       TEXT(service_str),
};

uint32_t *batch_target_text(const batch_target *target, size_t i)
{
    return (uint32_t *)((uintptr_t)target + texts[i]);
}

void batch_begin(batch *one, const uint8_t id[BATCH_ID_SIZE], uint32_t day)
{
    *one = (batch){.day = day,
                   .stack_ids = {.key_size = STACK_ID_SIZE},
                   .frames = {.key_size = sizeof(profile_frame)}};
    memcpy(one->id, id, BATCH_ID_SIZE);
}

void batch_clear(batch *one)
{
    uint8_t id[BATCH_ID_SIZE];
    memcpy(id, one->id, sizeof(id));
    string_table_clear(&one->strings);
    string_table_clear(&one->dictionary);
    key_table_clear(&one->stack_ids);
    key_table_clear(&one->frames);
    free(one->targets);
    free(one->windows);
    free(one->rows);
    free(one->seconds);
    free(one->threads);
    free(one->snapshots);
    free(one->states);
    free(one->locks);
    free(one->held);
    free(one->deadlocks);
    free(one->stacks);
    free(one->stack_frames);
    batch_begin(one, id, one->day);
}

int batch_move_string(string_table *to, const string_table *from, uint32_t index, uint32_t *out)
{
    size_t length = 0;
    const char *text = string_table_at(from, index, &length);
    return string_table_add(to, text, length, out);
}

static int add_frame(batch *one, const frame_source *from, const profile_frame *frame)
{
    profile_frame key;
    memset(&key, 0, sizeof(key));
    key.line = frame->line;
    key.kind = frame->kind;
    bool is_new = false;
    uint32_t index = 0;
    uint32_t *next = BATCH_NEXT(one->stack_frames, one->stack_frame_room, one->stack_frame_count);
    if (next == NULL ||
        batch_move_string(&one->dictionary, from->strings, frame->class_name, &key.class_name) !=
            0 ||
        batch_move_string(&one->dictionary, from->strings, frame->method, &key.method) != 0 ||
        batch_move_string(&one->dictionary, from->strings, frame->file, &key.file) != 0 ||
        key_table_add(&one->frames, &key, &index, &is_new) != 0)
        return -1;
    *next = index;
    one->stack_frame_count++;
    return 0;
}

int batch_add_stack(batch *one, const frame_source *from, const profile_stack *stack,
                    uint32_t *index)
{
    bool is_new = false;
    if (key_table_add(&one->stack_ids, stack->id, index, &is_new) != 0)
        return -1;
    if (!is_new)
        return 0;
    profile_stack *to = BATCH_NEXT(one->stacks, one->stack_room, *index);
    if (to == NULL)
        return -1;
    *to = *stack;
    to->first = (uint32_t)one->stack_frame_count;
    for (uint32_t i = 0; i < stack->depth; i++) {
        if (add_frame(one, from, &from->frames[from->stack_frames[stack->first + i]]) != 0)
            return -1;
    }
    return 0;
}

frame_source batch_frames(const batch *one)
{
    return (frame_source){&one->dictionary, (const profile_frame *)(const void *)one->frames.keys,
                          one->stack_frames};
}

uint64_t batch_bytes(const batch *one)
{
    /* The varints of each column, at the largest size that occurs in practice. */
    return one->strings.bytes + one->dictionary.bytes +
           2 * (one->strings.count + one->dictionary.count) + 160 * one->target_count +
           128 * one->window_count + 40 * one->row_count + 24 * one->second_count +
           48 * one->thread_count + 40 * one->snapshot_count + 64 * one->state_count +
           10 * one->lock_count + 12 * one->held_count + 15 * one->deadlock_count +
           40 * one->stack_ids.count + 16 * one->frames.count + 3 * one->stack_frame_count + 512;
}
