/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a metadata event, and runs the plans of all types that it defines over the bytes after it.
 */
#include "fuzz.h"
#include "metadata/metadata_impl.h"
#include "metadata/plan_impl.h"

static void run_plans(const jfr__metadata *meta, jfr__arena *arena, jfr__cursor rest)
{
    static const jfr__want wants[] = {{"name", 0, JFR__WANT_STRING},
                                      {"startTime", 1, JFR__WANT_INTEGER},
                                      {"frames", 2, JFR__WANT_ARRAY}};
    for (size_t i = 0; i < meta->type_count; i++) {
        jfr__plan plan;
        uint64_t slots[3] = {0};
        jfr__cursor c = rest;
        if (jfr__plan_compile(&plan, meta, &meta->types[i], wants, 3, rest.compressed, 32, arena,
                              NULL) == 0)
            jfr__plan_run(&plan, &c, slots);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const jfr_options limits = {
        .max_metadata_depth = 32, .max_metadata_elements = 4096, .max_string_bytes = 4096};
    jfr__metadata meta;
    jfr__arena arena;
    jfr__metadata_init(&meta, &jfr__malloc, UINT64_MAX);
    jfr__arena_init(&arena, &jfr__malloc, UINT64_MAX);
    /* the first byte selects the integer format */
    jfr__cursor c = {data, data + 1, data + size, (data[0] & 1) != 0, false};
    if (jfr__metadata_read(&meta, &c, &limits, NULL) == 0) {
        jfr__cursor rest = {data, c.pos, data + size, c.compressed, false};
        run_plans(&meta, &arena, rest);
    }
    jfr__metadata_free(&meta);
    jfr__arena_free(&arena);
    return 0;
}
