/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include <jfr/jfr.h>
#include <stdbool.h>
#include <stdlib.h>

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Checks for strict UTF-8 without surrogates, as jfr/string.h promises; the first byte gives the
 * length. */
static void check_str(jfr_str s)
{
    must(s.data != NULL || s.len == 0);
    const unsigned char *p = (const unsigned char *)s.data;
    for (size_t i = 0; i < s.len;) {
        size_t len = p[i] < 0x80 ? 1 : p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : 4;
        must(p[i] < 0x80 || (p[i] >= 0xC2 && p[i] < 0xF5));
        must(len <= s.len - i);
        for (size_t k = 1; k < len; k++)
            must((p[i + k] & 0xC0) == 0x80);
        must(!(p[i] == 0xED && p[i + 1] >= 0xA0));
        i += len;
    }
}

static void check_stack(jfr_chunk *chunk, uint32_t index, walk_result *out)
{
    jfr_stack stack;
    if (jfr_chunk_stack(chunk, index, &stack, NULL) < 0)
        return;
    out->frames += stack.frame_count;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const jfr_frame *f = &stack.frames[i];
        must(f->method_index == JFR_NONE ||
             f->method_index < jfr_chunk_get_info(chunk)->method_count);
        must(f->kind <= JFR_FRAME_KERNEL && f->tier <= JFR_TIER_NATIVE);
        check_str(f->method->class_name);
        check_str(f->method->name);
        check_str(f->method->descriptor);
    }
}

static void check_pools(jfr_chunk *chunk, walk_result *out)
{
    for (uint32_t i = 0; i < jfr_chunk_get_info(chunk)->stack_count; i++)
        check_stack(chunk, i, out);
    for (uint32_t i = 0; i < jfr_chunk_get_info(chunk)->class_count; i++) {
        jfr_class klass;
        if (jfr_chunk_class(chunk, i, &klass, NULL) == 0)
            check_str(klass.name);
    }
    for (uint32_t i = 0; i < jfr_chunk_get_info(chunk)->thread_count; i++) {
        jfr_thread thread;
        if (jfr_chunk_thread(chunk, i, &thread, NULL) < 0)
            continue;
        check_str(thread.os_name);
        check_str(thread.java_name);
        check_str(thread.group);
    }
    for (size_t i = 0; i < jfr_chunk_setting_count(chunk); i++) {
        jfr_setting setting;
        must(jfr_chunk_setting(chunk, i, &setting, NULL) == 0);
        check_str(setting.event);
        check_str(setting.name);
        check_str(setting.value);
    }
}

static uint64_t check_samples(jfr_chunk *chunk)
{
    jfr_sample s;
    uint64_t samples = 0;
    while (jfr_samples_next(chunk, &s, NULL) == 1) {
        samples++;
        must(s.stack == JFR_NONE || s.stack < jfr_chunk_get_info(chunk)->stack_count);
        must(s.thread == JFR_NONE || s.thread < jfr_chunk_get_info(chunk)->thread_count);
        must(s.klass == JFR_NONE || s.klass < jfr_chunk_get_info(chunk)->class_count);
        must(s.value_count >= 1 && s.value_count <= JFR_SAMPLE_VALUES);
        for (int i = 0; i < s.value_count; i++)
            must(jfr_profile_type_name(s.values[i].type) != NULL);
    }
    return samples;
}

walk_result walk_recording(const uint8_t *data, size_t len, uint32_t flags)
{
    walk_result out = {.opened = 0};
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = flags;
    options.max_unpacked_bytes = 1 << 24;
    options.max_pool_entries = 1 << 20;
    jfr_file *file;
    out.opened = jfr_open_mem(&file, data, len, &options, NULL);
    if (out.opened < 0)
        return out;
    jfr_chunk *chunk;
    int rc;
    while ((rc = jfr_next_chunk(file, &chunk, NULL)) != 0) {
        if (rc < 0)
            continue;
        out.chunks++;
        uint64_t samples = check_samples(chunk);
        jfr_samples_rewind(chunk);
        must(check_samples(chunk) == samples);
        out.samples += samples;
        check_pools(chunk, &out);
    }
    jfr_loss loss;
    jfr_file_loss(file, &loss);
    must(loss.chunks_whole + loss.chunks_partial == out.chunks);
    for (size_t i = 0; i < loss.record_count; i++)
        must(loss.records[i].reason >= JFR_LOSS_TRUNCATED &&
             loss.records[i].offset >= loss.records[i].chunk);
    out.whole = loss.chunks_whole;
    out.losses = loss.record_count;
    jfr_close(file);
    return out;
}
