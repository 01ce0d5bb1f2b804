/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include <inttypes.h>
#include <jfr/jfr.h>
#include <stdio.h>
#include <string.h>

struct reading {
    uint64_t samples;
    uint64_t digest;
};

static void mix(struct reading *r, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++)
        r->digest = (r->digest ^ p[i]) * UINT64_C(0x100000001B3);
}

static void mix_number(struct reading *r, uint64_t number)
{
    mix(r, &number, sizeof(number));
}

static void mix_text(struct reading *r, jfr_str s)
{
    mix_number(r, s.data == NULL ? UINT64_MAX : s.len);
    mix(r, s.data, s.len);
}

static void read_stack(struct reading *r, jfr_chunk *chunk, uint32_t index)
{
    jfr_stack stack;
    int rc = index == JFR_NONE ? 1 : jfr_chunk_stack(chunk, index, &stack, NULL);
    mix_number(r, (uint64_t)rc);
    if (rc != 0)
        return;
    mix_number(r, (uint64_t)stack.frame_count << 1 | stack.truncated);
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const jfr_frame *f = &stack.frames[i];
        mix_text(r, f->method->class_name);
        mix_text(r, f->method->name);
        mix_number(r, (uint64_t)f->line << 16 | (uint64_t)f->kind << 8 | f->tier);
    }
}

static void read_sample(struct reading *r, jfr_chunk *chunk, const jfr_sample *s)
{
    jfr_thread thread;
    jfr_class klass;
    r->samples++;
    mix_number(r, (uint64_t)s->time_ns);
    mix_number(r, (uint64_t)s->source << 16 | (uint64_t)s->state << 8 | s->lock_kind);
    for (int i = 0; i < s->value_count; i++) {
        mix_number(r, s->values[i].type);
        mix_number(r, s->values[i].raw);
        mix_number(r, s->values[i].value);
    }
    read_stack(r, chunk, s->stack);
    if (s->thread != JFR_NONE && jfr_chunk_thread(chunk, s->thread, &thread, NULL) == 0)
        mix_text(r, thread.java_name.len > 0 ? thread.java_name : thread.os_name);
    if (s->klass != JFR_NONE && jfr_chunk_class(chunk, s->klass, &klass, NULL) == 0)
        mix_text(r, klass.name);
}

static void read_chunk(struct reading *r, jfr_chunk *chunk)
{
    jfr_sample sample;
    int rc;
    mix_number(r, jfr_chunk_get_info(chunk)->offset);
    while ((rc = jfr_samples_next(chunk, &sample, NULL)) == 1)
        read_sample(r, chunk, &sample);
    mix_number(r, (uint64_t)rc);
}

static const char *code_name(int code)
{
    static const char *const names[] = {"JFR_OK",        "JFR_ERR_IO",    "JFR_ERR_FORMAT",
                                        "JFR_ERR_LIMIT", "JFR_ERR_USAGE", "JFR_ERR_NOMEM"};
    return names[-code];
}

static void refuse(verdict *out, const jfr_error *err)
{
    snprintf(out->text, sizeof(out->text), "%s at %" PRIu64, code_name(err->code), err->offset);
    out->digest = 0;
}

static void conclude(verdict *out, struct reading *r, const jfr_loss *loss)
{
    int at =
        snprintf(out->text, sizeof(out->text),
                 "%" PRIu64 " whole, %" PRIu64 " partial, %" PRIu64 " lost; %" PRIu64 " samples",
                 loss->chunks_whole, loss->chunks_partial, loss->chunks_lost, r->samples);
    for (size_t i = 0; i < loss->record_count; i++) {
        const jfr_loss_record *l = &loss->records[i];
        if (i < 4)
            at += snprintf(out->text + at, sizeof(out->text) - (size_t)at, "; %s at %" PRIu64,
                           jfr_loss_reason_name(l->reason), l->offset);
        mix_number(r, (uint64_t)l->reason);
        mix_number(r, l->offset);
        mix_number(r, l->bytes);
        mix_number(r, l->chunk);
    }
    mix_number(r, loss->bytes_lost);
    out->digest = r->digest;
}

static jfr_options options_of(uint32_t flags)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = flags;
    options.max_unpacked_bytes = 1 << 24;
    options.max_pool_entries = 1 << 20;
    return options;
}

void verdict_of_file(verdict *out, const uint8_t *data, size_t len, uint32_t flags)
{
    const jfr_options options = options_of(flags);
    struct reading r = {.digest = UINT64_C(0xCBF29CE484222325)};
    jfr_error err;
    jfr_file *file;
    jfr_chunk *chunk;
    jfr_loss loss;
    int rc = jfr_open_mem(&file, data, len, &options, &err);
    if (rc < 0) {
        refuse(out, &err);
        return;
    }
    while ((rc = jfr_next_chunk(file, &chunk, NULL)) != 0) {
        mix_number(&r, (uint64_t)rc);
        if (rc > 0)
            read_chunk(&r, chunk);
    }
    jfr_file_loss(file, &loss);
    conclude(out, &r, &loss);
    jfr_close(file);
}
