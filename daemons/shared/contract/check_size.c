/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the size of a payload with all references resolved: columns can refer to one string or
 * stack many times. docs/formats/ingest.md, "Limits on repeated strings and stacks".
 */
#include <contract/check.h>

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
