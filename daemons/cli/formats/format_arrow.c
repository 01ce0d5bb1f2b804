/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Arrow IPC file (arrow.apache.org, "Columnar Format"; Schema.fbs, Message.fbs, File.fbs): one
 * row for each profile type, thread and stack. Frames are indexes into a dictionary of names.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/formats/flatbuffer.h"
#include "cli/formats/formats.h"
#include "cli/formats/sample_types.h"
#include "cli/output/table_order.h"
#include "cli/output/text.h"

enum { ROWS_PER_BATCH = 65536, BUFFERS = 25, NODES = 11, VERSION = 4 /* V5 */ };
enum header { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum arrow_type { ARROW_INT = 2, ARROW_UTF8 = 5, ARROW_LIST = 12, ARROW_FIXED_BINARY = 15 };

static const char magic[8] = "ARROW1";

/* The position of a message, as the file's footer needs it. */
typedef struct block {
    uint64_t offset, metadata, body;
} block;

typedef struct writer {
    FILE *to;
    const sagg *agg;
    flatbuffer flat;
    uint64_t offset; /* from the file's beginning */
    table_rows rows;
    table_names names;
    block dictionary;
    block *batches;
    size_t batch_count;
    bool failed;
} writer;

/* The buffers of a message's body, in order; NULL = an empty validity buffer: all values are
 * valid. */
typedef struct body {
    const text *buffers[BUFFERS];
    uint64_t nodes[NODES]; /* the length of each node */
    size_t buffer_count, node_count;
} body;

static uint64_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static void write_padded(writer *w, const void *data, size_t size)
{
    static const char zeros[8];
    size_t rest = (size_t)(padded(size) - size);
    if (size > 0)
        (void)fwrite(data, 1, size, w->to); /* output_commit reports a failed write */
    (void)fwrite(zeros, 1, rest, w->to);
    w->offset += size + rest;
}

/* ---- messages ---- */

static void column_buffer(body *b, const text *data)
{
    b->buffers[b->buffer_count++] = data;
}

static void column(body *b, uint64_t length, const text *offsets, const text *data)
{
    b->nodes[b->node_count++] = length;
    column_buffer(b, NULL);
    if (offsets != NULL)
        column_buffer(b, offsets);
    if (data != NULL)
        column_buffer(b, data);
}

static uint64_t body_size(const body *b)
{
    uint64_t size = 0;
    for (size_t i = 0; i < b->buffer_count; i++)
        size += b->buffers[i] != NULL ? padded(b->buffers[i]->len) : 0;
    return size;
}

static flat_ref record_batch(writer *w, const body *b, uint64_t rows)
{
    uint64_t nodes[2 * NODES] = {0};
    uint64_t buffers[2 * BUFFERS] = {0};
    uint64_t at = 0;
    for (size_t i = 0; i < b->node_count; i++)
        nodes[2 * i] = b->nodes[i];
    for (size_t i = 0; i < b->buffer_count; i++) {
        buffers[2 * i] = at;
        buffers[2 * i + 1] = b->buffers[i] != NULL ? b->buffers[i]->len : 0;
        at += padded(buffers[2 * i + 1]);
    }
    flat_ref all_buffers = flat_structs(&w->flat, buffers, 2, b->buffer_count);
    flat_ref all_nodes = flat_structs(&w->flat, nodes, 2, b->node_count);
    flat_begin(&w->flat);
    flat_i64(&w->flat, 0, (int64_t)rows);
    flat_child(&w->flat, 1, all_nodes);
    flat_child(&w->flat, 2, all_buffers);
    return flat_end(&w->flat);
}

/* Writes a message with this header and body (NULL = no body). */
static block write_message(writer *w, enum header kind, flat_ref header, const body *b)
{
    block place = {.offset = w->offset, .body = b != NULL ? body_size(b) : 0};
    flat_begin(&w->flat);
    flat_i64(&w->flat, 3, (int64_t)place.body);
    flat_child(&w->flat, 2, header);
    flat_i16(&w->flat, 0, VERSION);
    flat_u8(&w->flat, 1, (uint8_t)kind);
    const unsigned char *message = flat_finish(&w->flat, flat_end(&w->flat));
    uint32_t head[2] = {UINT32_MAX, (uint32_t)padded(w->flat.size)};
    w->failed = w->failed || message == NULL;
    if (w->failed)
        return place;
    write_padded(w, head, sizeof(head));
    write_padded(w, message, w->flat.size);
    place.metadata = w->offset - place.offset;
    for (size_t i = 0; b != NULL && i < b->buffer_count; i++)
        if (b->buffers[i] != NULL)
            write_padded(w, b->buffers[i]->data, b->buffers[i]->len);
    flat_clear(&w->flat);
    return place;
}

/* ---- schema ---- */

static flat_ref int_type(writer *w, int bits)
{
    flat_begin(&w->flat);
    flat_i32(&w->flat, 0, bits);
    flat_u8(&w->flat, 1, bits == 32);
    return flat_end(&w->flat);
}

/* Makes a type without properties, or one that has a width only. */
static flat_ref plain_type(writer *w, int width)
{
    flat_begin(&w->flat);
    if (width > 0)
        flat_i32(&w->flat, 0, width);
    return flat_end(&w->flat);
}

static flat_ref field_of(writer *w, const char *name, enum arrow_type kind, flat_ref type,
                         flat_ref dictionary, flat_ref child)
{
    flat_ref label = flat_string(&w->flat, name);
    flat_ref children = flat_vector(&w->flat, &child, child != 0);
    flat_begin(&w->flat);
    flat_child(&w->flat, 0, label);
    flat_child(&w->flat, 3, type);
    if (dictionary != 0)
        flat_child(&w->flat, 4, dictionary);
    flat_child(&w->flat, 5, children);
    flat_u8(&w->flat, 2, (uint8_t)kind);
    return flat_end(&w->flat);
}

static flat_ref text_field(writer *w, const char *name)
{
    return field_of(w, name, ARROW_UTF8, plain_type(w, 0), 0, 0);
}

static flat_ref number_field(writer *w, const char *name)
{
    return field_of(w, name, ARROW_INT, int_type(w, 64), 0, 0);
}

static flat_ref frames_field(writer *w)
{
    flat_ref index = int_type(w, 32);
    flat_begin(&w->flat);
    flat_i64(&w->flat, 0, 0);
    flat_child(&w->flat, 1, index);
    flat_ref encoding = flat_end(&w->flat);
    flat_ref item = field_of(w, "item", ARROW_UTF8, plain_type(w, 0), encoding, 0);
    return field_of(w, "frames", ARROW_LIST, plain_type(w, 0), 0, item);
}

static flat_ref lines_field(writer *w)
{
    flat_ref item = field_of(w, "item", ARROW_INT, int_type(w, 32), 0, 0);
    return field_of(w, "lines", ARROW_LIST, plain_type(w, 0), 0, item);
}

static flat_ref schema_of(writer *w)
{
    flat_ref fields[] = {
        text_field(w, "type"),
        text_field(w, "unit"),
        text_field(w, "thread"),
        field_of(w, "stack_id", ARROW_FIXED_BINARY, plain_type(w, 16), 0, 0),
        number_field(w, "value"),
        number_field(w, "raw_value"),
        number_field(w, "samples"),
        frames_field(w),
        lines_field(w),
    };
    flat_ref all = flat_vector(&w->flat, fields, sizeof(fields) / sizeof(fields[0]));
    flat_begin(&w->flat);
    flat_child(&w->flat, 1, all);
    return flat_end(&w->flat);
}

/* ---- names of frames ---- */

static void add_offset(text *offsets, const text *data)
{
    int32_t end = (int32_t)data->len;
    text_bytes(offsets, &end, sizeof(end));
}

static void add_string(text *offsets, text *data, sagg_str string)
{
    if (string.size > 0)
        text_bytes(data, string.data, string.size);
    add_offset(offsets, data);
}

static void add_name(text *offsets, text *data, const sagg_frame *frame)
{
    if (frame->class_name.size > 0) {
        text_bytes(data, frame->class_name.data, frame->class_name.size);
        text_char(data, '.');
    }
    add_string(offsets, data, frame->method);
}

/* Writes each name once, into the buffers of the dictionary. */
static void collect_names(const writer *w, text *offsets, text *data)
{
    const table_names *names = &w->names;
    add_offset(offsets, data);
    for (uint32_t i = 0; i < names->frames; i++) {
        sagg_frame frame = {0};
        if (i > 0 && names->number[names->order[i]] == names->number[names->order[i - 1]])
            continue;
        (void)sagg_frame_at(w->agg, names->order[i], &frame);
        add_name(offsets, data, &frame);
    }
}

static void write_dictionary(writer *w)
{
    text offsets = {.fd = -1};
    text data = {.fd = -1};
    body b = {0};
    uint32_t names = w->names.names;
    collect_names(w, &offsets, &data);
    column(&b, names, &offsets, &data);
    w->failed = w->failed || offsets.error != 0 || data.error != 0 || data.len > INT32_MAX;
    flat_ref batch = record_batch(w, &b, names);
    flat_begin(&w->flat);
    flat_i64(&w->flat, 0, 0);
    flat_child(&w->flat, 1, batch);
    w->dictionary = write_message(w, HEADER_DICTIONARY, flat_end(&w->flat), &b);
    text_free(&offsets);
    text_free(&data);
}

/* ---- rows ---- */

/* The columns of one batch. */
typedef struct columns {
    text type_ends, types, unit_ends, units, thread_ends, threads, ids;
    text values, raw_values, samples, stack_ends, frames, lines;
} columns;

enum { TEXTS = sizeof(columns) / sizeof(text) };

static void add_stack(const writer *w, columns *c, uint32_t index)
{
    sagg_stack stack = {0};
    (void)sagg_stack_at(w->agg, index, &stack);
    text_bytes(&c->ids, w->rows.ids[index].bytes, sizeof(w->rows.ids[index].bytes));
    for (uint32_t i = 0; i < stack.count; i++) {
        sagg_frame frame = {0};
        uint32_t number = sagg_stack_frame(&stack, i);
        (void)sagg_frame_at(w->agg, number, &frame);
        text_bytes(&c->frames, &w->names.number[number], sizeof(uint32_t));
        text_bytes(&c->lines, &frame.line, sizeof(uint32_t));
    }
    int32_t end = (int32_t)(c->frames.len / sizeof(uint32_t));
    text_bytes(&c->stack_ends, &end, sizeof(end));
}

static void add_row(const writer *w, columns *c, const sagg_entry *row)
{
    const profile_type_info *info = profile_type_get(row->type);
    const char *name = recording_type_name(w->agg, row->type);
    sagg_thread thread = {0};
    (void)sagg_thread_at(w->agg, row->thread, &thread);
    add_string(&c->type_ends, &c->types, (sagg_str){name, strlen(name)});
    add_string(&c->unit_ends, &c->units, (sagg_str){info->unit, strlen(info->unit)});
    add_string(&c->thread_ends, &c->threads, thread.name);
    text_bytes(&c->values, &row->totals.value, sizeof(uint64_t));
    text_bytes(&c->raw_values, &row->totals.raw_value, sizeof(uint64_t));
    text_bytes(&c->samples, &row->totals.samples, sizeof(uint64_t));
    add_stack(w, c, row->stack);
}

static void describe(body *b, const columns *c, size_t rows)
{
    column(b, rows, &c->type_ends, &c->types);
    column(b, rows, &c->unit_ends, &c->units);
    column(b, rows, &c->thread_ends, &c->threads);
    column(b, rows, NULL, &c->ids);
    column(b, rows, NULL, &c->values);
    column(b, rows, NULL, &c->raw_values);
    column(b, rows, NULL, &c->samples);
    uint64_t frames = c->frames.len / sizeof(uint32_t);
    column(b, rows, &c->stack_ends, NULL);
    column(b, frames, NULL, &c->frames);
    column(b, rows, &c->stack_ends, NULL);
    column(b, frames, NULL, &c->lines);
}

static void write_batch(writer *w, const sagg_entry *rows, size_t count)
{
    columns c = {0};
    body b = {0};
    text *all[TEXTS] = {&c.type_ends,  &c.types,  &c.unit_ends, &c.units,      &c.thread_ends,
                        &c.threads,    &c.ids,    &c.values,    &c.raw_values, &c.samples,
                        &c.stack_ends, &c.frames, &c.lines};
    add_offset(&c.type_ends, &c.types);
    add_offset(&c.unit_ends, &c.units);
    add_offset(&c.thread_ends, &c.threads);
    add_offset(&c.stack_ends, &c.frames);
    for (size_t i = 0; i < count; i++)
        add_row(w, &c, &rows[i]);
    for (size_t i = 0; i < TEXTS; i++)
        w->failed = w->failed || all[i]->error != 0 || all[i]->len > INT32_MAX;
    describe(&b, &c, count);
    flat_ref batch = record_batch(w, &b, count);
    w->batches[w->batch_count++] = write_message(w, HEADER_BATCH, batch, &b);
    for (size_t i = 0; i < TEXTS; i++)
        text_free(all[i]);
}

/* ---- the file ---- */

static flat_ref blocks_of(writer *w, const block *blocks, size_t count)
{
    uint64_t *words = calloc(3 * count + 1, sizeof(*words));
    w->failed = w->failed || words == NULL;
    for (size_t i = 0; words != NULL && i < count; i++) {
        words[3 * i] = blocks[i].offset;
        words[3 * i + 1] = blocks[i].metadata;
        words[3 * i + 2] = blocks[i].body;
    }
    flat_ref all = words != NULL ? flat_structs(&w->flat, words, 3, count) : 0;
    free(words);
    return all;
}

static void write_footer(writer *w)
{
    static const uint32_t end[2] = {UINT32_MAX, 0};
    write_padded(w, end, sizeof(end));
    flat_ref schema = schema_of(w);
    flat_ref dictionaries = blocks_of(w, &w->dictionary, 1);
    flat_ref batches = blocks_of(w, w->batches, w->batch_count);
    flat_begin(&w->flat);
    flat_child(&w->flat, 1, schema);
    flat_child(&w->flat, 2, dictionaries);
    flat_child(&w->flat, 3, batches);
    flat_i16(&w->flat, 0, VERSION);
    const unsigned char *footer = flat_finish(&w->flat, flat_end(&w->flat));
    uint32_t size = (uint32_t)padded(w->flat.size);
    w->failed = w->failed || footer == NULL;
    if (w->failed)
        return;
    write_padded(w, footer, w->flat.size);
    (void)fwrite(&size, 1, sizeof(size), w->to);
    (void)fwrite(magic, 1, strlen(magic), w->to);
}

/* Returns false without memory. */
static bool prepare(writer *w, uint32_t types)
{
    if (!table_rows_collect(&w->rows, w->agg, types) || !table_names_make(&w->names, w->agg))
        return false;
    table_rows_sort(&w->rows);
    w->batches = calloc(w->rows.count / ROWS_PER_BATCH + 1, sizeof(*w->batches));
    return w->batches != NULL;
}

bool format_arrow(output *out, const sagg *agg, uint32_t types)
{
    writer w = {.to = out->file, .agg = agg};
    w.failed = !prepare(&w, types);
    if (!w.failed) {
        write_padded(&w, magic, sizeof(magic));
        (void)write_message(&w, HEADER_SCHEMA, schema_of(&w), NULL);
        write_dictionary(&w);
    }
    for (size_t at = 0; !w.failed && at < w.rows.count; at += ROWS_PER_BATCH) {
        size_t left = w.rows.count - at;
        write_batch(&w, w.rows.rows + at, left < ROWS_PER_BATCH ? left : ROWS_PER_BATCH);
    }
    if (!w.failed)
        write_footer(&w);
    flat_free(&w.flat);
    table_rows_free(&w.rows);
    table_names_free(&w.names);
    free(w.batches);
    if (w.failed)
        complain("not enough memory to write the table, or a batch of it has more than 2 GiB");
    return !w.failed;
}
