/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdlib.h>

sagg_str str(const char *text)
{
    return (sagg_str){text, strlen(text)};
}

sagg_options two_types(void)
{
    static const sagg_type types[] = {{CPU, "cpu", "ns"}, {ALLOC, "alloc_bytes", "bytes"}};
    sagg_options options = SAGG_OPTIONS_INIT;
    options.types = types;
    options.type_count = 2;
    return options;
}

sagg *make(const sagg_options *options)
{
    sagg_options defaults = two_types();
    sagg *agg = NULL;
    sagg_error err = {0};
    ck_assert_msg(sagg_new(&agg, options != NULL ? options : &defaults, &err) == 0, "%s",
                  err.message);
    return agg;
}

static uint32_t frame(sagg *agg, const char *text, size_t size)
{
    sagg_frame row = {.method = {text, size}};
    for (size_t i = 0; i < size; i++)
        if (text[i] == '.') {
            row.class_name = (sagg_str){text, i};
            row.method = (sagg_str){text + i + 1, size - i - 1};
        }
    uint32_t index = UINT32_MAX;
    ck_assert_int_eq(sagg_add_frame(agg, &index, &row, NULL), 0);
    return index;
}

uint32_t stack(sagg *agg, const char *root_first)
{
    uint32_t frames[256];
    size_t count = 0;
    size_t end = strlen(root_first);
    while (end > 0) {
        size_t start = end;
        while (start > 0 && root_first[start - 1] != ';')
            start--;
        ck_assert_uint_lt(count, 256);
        frames[count++] = frame(agg, root_first + start, end - start);
        end = start > 0 ? start - 1 : 0;
    }
    uint32_t index = UINT32_MAX;
    ck_assert_int_eq(sagg_add_stack(agg, &index, frames, count, NULL), 0);
    return index;
}

uint32_t thread(sagg *agg, int64_t tid, const char *name)
{
    sagg_thread row = {.os_tid = tid, .name = str(name)};
    uint32_t index = UINT32_MAX;
    ck_assert_int_eq(sagg_add_thread(agg, &index, &row, NULL), 0);
    return index;
}

void add(sagg *agg, uint32_t type, uint32_t thread_index, uint32_t stack_index, uint64_t value)
{
    sagg_sample sample = {.type = type,
                          .thread = thread_index,
                          .stack = stack_index,
                          .raw_value = value > 0 ? value - 1 : 0,
                          .value = value,
                          .samples = 1};
    sagg_error err = {0};
    ck_assert_msg(sagg_add(agg, &sample, &err) == 0, "%s", err.message);
}

static void same_sums(sagg_totals a, sagg_totals b)
{
    ck_assert_uint_eq(a.raw_value, b.raw_value);
    ck_assert_uint_eq(a.value, b.value);
    ck_assert_uint_eq(a.samples, b.samples);
}

void same_entries(const sagg *a, const sagg *b)
{
    sagg_entry left, right;
    size_t at = 0, other = 0;
    while (sagg_next(a, &at, &left)) {
        ck_assert(sagg_next(b, &other, &right));
        ck_assert_uint_eq(left.type, right.type);
        ck_assert_uint_eq(left.thread, right.thread);
        ck_assert_uint_eq(left.stack, right.stack);
        ck_assert_uint_eq(left.label, right.label);
        same_sums(left.totals, right.totals);
    }
    ck_assert(!sagg_next(b, &other, &right));
    ck_assert_uint_eq(sagg_thread_count(a), sagg_thread_count(b));
    for (uint32_t type = CPU; type <= ALLOC; type++) {
        same_sums(sagg_type_totals(a, type), sagg_type_totals(b, type));
        for (uint32_t i = 0; i < sagg_thread_count(a); i++)
            same_sums(sagg_thread_totals(a, i, type), sagg_thread_totals(b, i, type));
    }
}

static int keep(void *ctx, const void *data, size_t bytes)
{
    memory *to = ctx;
    char *text = realloc(to->text, to->size + bytes + 1);
    if (text == NULL)
        return -1;
    memcpy(text + to->size, data, bytes);
    to->text = text;
    to->size += bytes;
    text[to->size] = '\0';
    return 0;
}

sagg_sink memory_sink(memory *to)
{
    *to = (memory){0};
    return (sagg_sink){keep, to};
}

static char *text_of(const memory *m)
{
    return m->text != NULL ? m->text : strdup("");
}

char *collapsed(const sagg *agg, uint32_t type, const sagg_collapsed_options *options)
{
    memory to;
    sagg_sink sink = memory_sink(&to);
    ck_assert_int_eq(sagg_write_collapsed(agg, type, options, &sink, NULL), 0);
    return text_of(&to);
}

sagg_tree *whole_tree(const sagg *agg)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    options.type = CPU;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    return tree;
}

char *json(const sagg *agg, uint32_t type, uint32_t max_nodes)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    memory to;
    sagg_sink sink = memory_sink(&to);
    options.type = type;
    options.max_nodes = max_nodes;
    ck_assert_int_eq(sagg_tree_new(&tree, agg, &options, NULL), 0);
    const sagg_tree *trees[] = {tree};
    ck_assert_int_eq(sagg_write_json(trees, 1, str(""), &sink, NULL), 0);
    sagg_tree_free(tree);
    return text_of(&to);
}

uint32_t next_random(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}
