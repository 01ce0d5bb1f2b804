/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a payload stands for: columns name one string or one stack many times over, and somebody
 * writes each of them out. docs/formats/ingest.md, "What a payload can stand for".
 */
#include "checks.h"

typedef unsigned long long ull;

static uint64_t sum_texts(const string_columns *strings, u32s column)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < column.count; i++)
        sum += strings->length.at[column.at[i]];
    return sum;
}

int check_texts(const char *name, const string_columns *strings, u32s column,
                const ingest_limits *limits, verdict *v)
{
    uint64_t sum = sum_texts(strings, column);

    if (sum <= limits->strings_bytes)
        return 0;
    return verdict_reject(v, "payload_too_large",
                          "%s: the entries' texts add up to %llu bytes; at most %llu are allowed.",
                          name, (ull)sum, (ull)limits->strings_bytes);
}

int check_frame_texts(const stack_dictionary *d, const ingest_limits *limits, verdict *v)
{
    uint64_t most = FRAME_TEXTS * limits->strings_bytes;
    uint64_t sum = sum_texts(&d->strings, d->frame_class) + sum_texts(&d->strings, d->frame_method);

    if (sum <= most)
        return 0;
    return verdict_reject(v, "payload_too_large",
                          "stacks: the classes and methods of all frames add up to %llu bytes; at "
                          "most %llu are allowed.",
                          (ull)sum, (ull)most);
}

int check_stored_frames(const stack_dictionary *d, const stack_use *uses, size_t count, verdict *v)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += d->stack_depth.at[uses[i].stack];
    if (sum <= STORED_FRAMES_MAX)
        return 0;
    return verdict_reject(v, "payload_too_large",
                          "stacks: the frames of all stacks, under each workload that uses them, "
                          "are %llu; at most %u are allowed.",
                          (ull)sum, STORED_FRAMES_MAX);
}

int check_services(size_t count, verdict *v)
{
    if (count <= SERVICES_MAX)
        return 0;
    return verdict_reject(v, "too_many_rows",
                          "targets are of %zu workloads; at most %u are allowed in one batch.",
                          count, SERVICES_MAX);
}
