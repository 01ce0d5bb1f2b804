/* SPDX-License-Identifier: Apache-2.0 */
#include "collector_tests.h"

#include <stackagg/stackagg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[64];

static void add_stack(profile *to, uint32_t index)
{
    char method[32];
    profile_frame *frame = &to->frames[index];
    (void)snprintf(method, sizeof(method), index == 0 ? "[dropped]" : "method%u", index);
    ck_assert_int_eq(string_table_add(&to->strings, method, strlen(method), &frame->method), 0);
    frame->kind = index == 0 ? 4 : 0;
    profile_stack *stack = &to->stacks[index];
    const sagg_frame given = {
        .class_name = {"", 0}, .method = {method, strlen(method)}, .kind = frame->kind};
    ck_assert_int_eq(sagg_stack_id_of((sagg_stack_id *)stack->id, &given, 1, 1, NULL), 0);
    stack->normaliser = 1;
    stack->first = index;
    stack->depth = 1;
    to->stack_frames[index] = index;
}

void sample_profile(profile *out, uint32_t parts, uint32_t rows)
{
    uint32_t pool = 0;
    *out = (profile){0};
    ck_assert_int_eq(string_table_add(&out->strings, "worker-#", 8, &pool), 0);
    out->parts = calloc(parts, sizeof(*out->parts));
    out->rows = calloc((size_t)parts * rows + 1, sizeof(*out->rows));
    out->seconds = calloc(parts, sizeof(*out->seconds));
    out->frames = calloc(rows + 1, sizeof(*out->frames));
    out->stacks = calloc(rows + 1, sizeof(*out->stacks));
    out->stack_frames = calloc(rows + 1, sizeof(*out->stack_frames));
    out->frame_count = out->stack_count = out->stack_frame_count = rows + 1;
    for (uint32_t i = 0; i <= rows; i++)
        add_stack(out, i);
    for (uint32_t part = 0; part < parts; part++) {
        profile_part *to = &out->parts[out->part_count++];
        *to = (profile_part){.source = part + 1, .engine = "ctimer", .interval = 10};
        for (uint32_t i = 1; i <= rows; i++) {
            out->rows[out->row_count++] =
                (profile_row){.part = part, .pool = pool, .stack = i, .sum = {i, 10 * i, 1, 2}};
            profile_sum_add(&to->total, &out->rows[out->row_count - 1].sum);
        }
        out->seconds[out->second_count++] = (profile_second){
            .part = part, .pool = pool, .amount = to->total.amount, .count = to->total.count};
    }
    out->covered_ms = 9990;
}

local_jvm sample_jvm(uint32_t pid)
{
    local_jvm jvm = {.ns_pid = pid, .uid = 1000, .start_ms = NOON - 3600000};
    jvm.id.host_pid = pid;
    jvm.id.start_ticks = 5;
    (void)snprintf(jvm.id.boot_id, sizeof(jvm.id.boot_id), "01234567-89ab-cdef-0123-456789abcdef");
    (void)snprintf(jvm.main_class, sizeof(jvm.main_class), "com.example.Shop");
    return jvm;
}

void sample_batch(batch *out, uint8_t id_byte, uint32_t windows, uint32_t rows)
{
    uint8_t id[BATCH_ID_SIZE];
    memset(id, id_byte, sizeof(id));
    batch_begin(out, id, (uint32_t)(NOON / MS_PER_DAY));
    out->created_ms = NOON;
    local_jvm jvm = sample_jvm(7);
    target_labels labels = {.workload_kind = "process", .workload = "shop"};
    profile from;
    sample_profile(&from, 1, rows);
    for (uint32_t i = 0; i < windows; i++) {
        window_span span = {NOON + 10000 * (uint64_t)i, 10000, 9990, 0};
        ck_assert_int_eq(batch_add(out, &jvm, &labels, &span, &from, 0), 0);
    }
    profile_clear(&from);
}

const char *make_directory(void)
{
    strcpy(directory, "/tmp/hotstack-collector-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    return directory;
}

void remove_directory(void)
{
    char command[96];
    (void)snprintf(command, sizeof(command), "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}
