/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks names of frames and threads. For any bytes the result is UTF-8, normalising is idempotent,
 * both ways of computing an id agree, and no harmful character is raw in JSON. Input: a kind byte,
 * the class up to a 0xFE byte, then the method.
 */
#include "fuzz.h"

#include <string.h>

#include <stackagg/stackagg.h>

#include "frames/utf8_impl.h"

static void check_utf8(sagg_str text)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    for (size_t at = 0; at < text.size;) {
        uint32_t code_point = 0;
        int step = sagg__utf8_step(bytes + at, text.size - at, &code_point);
        MUST(step > 0 && code_point != 0);
        at += (size_t)step;
    }
}

static int check_piece(void *ctx, const void *data, size_t bytes)
{
    (void)ctx;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = ((const uint8_t *)data)[i];
        MUST(byte >= 0x20 && byte != 0x7F && byte != '<');
    }
    return 0;
}

static void check_json(sagg *agg)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree;
    sagg_sink sink = {check_piece, NULL};
    options.type = 1;
    MUST(sagg_tree_new(&tree, agg, &options, NULL) == 0);
    const sagg_tree *trees[] = {tree};
    MUST(sagg_write_json(trees, 1, (sagg_str){NULL, 0}, &sink, NULL) == 0);
    sagg_tree_free(tree);
}

static void check_aggregate(const sagg_frame *frame)
{
    static const sagg_type types[] = {{1, "cpu", "ns"}};
    sagg_options options = SAGG_OPTIONS_INIT;
    sagg_sample sample = {.type = 1, .value = 1, .samples = 1};
    sagg_thread thread = {.os_tid = 1, .name = frame->method};
    sagg *agg;
    uint32_t index;
    sagg_stack_id id, got;
    options.types = types;
    options.type_count = 1;
    MUST(sagg_new(&agg, &options, NULL) == 0);
    MUST(sagg_add_frame(agg, &index, frame, NULL) == 0);
    MUST(sagg_add_stack(agg, &sample.stack, &index, 1, NULL) == 0);
    MUST(sagg_add_thread(agg, &sample.thread, &thread, NULL) == 0);
    MUST(sagg_add(agg, &sample, NULL) == 0);
    MUST(sagg_stack_id_at(agg, sample.stack, &got));
    MUST(sagg_stack_id_of(&id, frame, 1, SAGG_NORMALISE_V1, NULL) == 0);
    MUST(memcmp(&id, &got, sizeof(id)) == 0);
    check_json(agg);
    sagg_free(agg);
}

static void check_frame(const sagg_frame *given, int version)
{
    sagg_frame once, twice;
    char *storage, *again;
    MUST(sagg_frame_normalise(&once, &storage, given, version, NULL) == 0);
    check_utf8(once.class_name);
    check_utf8(once.method);
    MUST(sagg_frame_normalise(&twice, &again, &once, version, NULL) == 0);
    MUST(once.class_name.size == twice.class_name.size);
    MUST(memcmp(once.class_name.data, twice.class_name.data, once.class_name.size) == 0);
    MUST(once.method.size == twice.method.size);
    free(storage);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *names = (const char *)data + 1;
    const char *split = memchr(names, 0xFE, size - 1);
    size_t class_size = split != NULL ? (size_t)(split - names) : size - 1;
    sagg_frame frame = {.class_name = {names, class_size}, .kind = data[0] % 5};
    if (split != NULL)
        frame.method = (sagg_str){split + 1, size - 2 - class_size};
    check_frame(&frame, SAGG_NORMALISE_V1);
    check_frame(&frame, SAGG_NORMALISE_NONE);
    check_aggregate(&frame);
    return 0;
}
