/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: one gzipped protobuf message (github.com/google/pprof, proto/profile.proto). Messages are
 * written field by field; the numbers below are the field numbers of that file.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "cli/command.h"
#include "cli/formats/formats.h"
#include "cli/formats/frame_name.h"
#include "cli/formats/sample_types.h"
#include "cli/output/table_order.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* A message under construction; the memory is reused for the next one of its kind. */
typedef struct message {
    unsigned char *data;
    size_t size, room;
    bool failed;
} message;

typedef struct writer {
    output *out;
    z_stream zip;
    message field, part, line;
    uint64_t strings; /* how many strings of the string table are used */
    message table;
    bool failed;
    const sagg *agg;
    bool threads; /* write threads as labels */
    table_rows rows;
    table_names names;
    uint8_t column[PROFILE_TYPE_END]; /* by type: its column among the values; 0 = not asked for */
    unsigned columns;
    uint64_t *locations; /* by frame: its location; 0 = not written yet */
    bool *functions;     /* by name: whether it was written */
    uint64_t location_count, dropped;
    uint64_t thread_key, tid_key; /* strings of the string table */
    uint32_t thread;              /* the thread of the last row; SAGG_NO_THREAD at first */
    uint64_t thread_name;         /* the string of its name; 0 = none */
} writer;

static void put(message *m, const void *data, size_t size)
{
    if (m->size + size > m->room) {
        size_t room = (m->size + size) * 2 + 64;
        unsigned char *grown = realloc(m->data, room);
        if (grown == NULL) {
            m->failed = true;
            return;
        }
        m->data = grown;
        m->room = room;
    }
    if (size > 0)
        memcpy(m->data + m->size, data, size);
    m->size += size;
}

static void put_varint(message *m, uint64_t value)
{
    unsigned char bytes[10];
    size_t size = 0;
    do {
        bytes[size] = (unsigned char)(value & 0x7F);
        value >>= 7;
        bytes[size++] |= value > 0 ? 0x80 : 0;
    } while (value > 0);
    put(m, bytes, size);
}

static void put_number(message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3 | WIRE_VARINT);
    put_varint(m, value);
}

static void put_bytes(message *m, unsigned field, const void *data, size_t size)
{
    put_varint(m, field << 3 | WIRE_BYTES);
    put_varint(m, size);
    put(m, data, size);
}

static void put_message(message *m, unsigned field, message *inner)
{
    put_bytes(m, field, inner->data, inner->size);
    m->failed = m->failed || inner->failed;
    inner->size = 0;
}

/* ---- the profile's stream ---- */

static void deflate_all(writer *w, const message *from, int flush)
{
    unsigned char room[16384];
    w->zip.next_in = from->data;
    w->zip.avail_in = (uInt)from->size;
    do {
        w->zip.next_out = room;
        w->zip.avail_out = sizeof(room);
        (void)deflate(&w->zip, flush);
        size_t made = sizeof(room) - w->zip.avail_out;
        if (fwrite(room, 1, made, w->out->file) != made)
            return; /* output_commit reports a failed write */
    } while (w->zip.avail_out == 0);
}

/* Compresses and writes the field of the profile that w->field holds. */
static void send(writer *w)
{
    w->failed = w->failed || w->field.failed;
    deflate_all(w, &w->field, Z_NO_FLUSH);
    w->field.size = 0;
}

/* Returns the number of a string, which is new in the table. The table is written last. It may hold
 * equal strings twice. */
static uint64_t string(writer *w, const char *data, size_t size)
{
    put_bytes(&w->table, 6, data, size);
    return w->strings++;
}

static uint64_t literal(writer *w, const char *text)
{
    return string(w, text, strlen(text));
}

/* ---- sample types ---- */

static const char *unit_name(const char *unit)
{
    if (strcmp(unit, "ns") == 0)
        return "nanoseconds";
    return strcmp(unit, "bytes") == 0 ? "bytes" : "count";
}

static uint64_t write_sample_type(writer *w, const char *type, const char *unit)
{
    uint64_t name = literal(w, type);
    put_number(&w->part, 1, name);
    put_number(&w->part, 2, literal(w, unit));
    put_message(&w->field, 1, &w->part);
    send(w);
    return name;
}

/* Writes the number of samples, then the types; the first of these is shown by default. */
static void write_sample_types(writer *w, uint32_t types)
{
    (void)write_sample_type(w, "samples", "count");
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const profile_type_info *info = profile_type_get(type);
        if ((types >> type & 1) == 0)
            continue;
        w->column[type] = (uint8_t)++w->columns;
        uint64_t name =
            write_sample_type(w, recording_type_name(w->agg, type), unit_name(info->unit));
        if (w->columns == 1) {
            put_number(&w->field, 14, name);
            send(w);
        }
    }
}

/* ---- functions and locations ---- */

static void write_function(writer *w, const sagg_frame *frame, uint64_t id)
{
    char *name;
    int size = frame_name(&name, frame);
    if (size < 0) {
        w->failed = true;
        return;
    }
    put_number(&w->part, 1, id);
    put_number(&w->part, 2, string(w, name, (size_t)size));
    put_number(&w->part, 4,
               frame->file.size > 0 ? string(w, frame->file.data, frame->file.size) : 0);
    put_message(&w->field, 5, &w->part);
    free(name);
    send(w);
}

static uint64_t write_location(writer *w, uint64_t function, uint32_t line)
{
    put_number(&w->line, 1, function);
    put_number(&w->line, 2, line);
    put_number(&w->part, 1, ++w->location_count);
    put_message(&w->part, 4, &w->line);
    put_message(&w->field, 4, &w->part);
    send(w);
    return w->location_count;
}

/* Returns the location of a frame, and writes it on the first call. */
static uint64_t location_of(writer *w, uint32_t index)
{
    uint32_t name = w->names.number[index];
    sagg_frame frame = {0};
    if (w->locations[index] != 0)
        return w->locations[index];
    (void)sagg_frame_at(w->agg, index, &frame);
    if (!w->functions[name])
        write_function(w, &frame, (uint64_t)name + 1);
    w->functions[name] = true;
    w->locations[index] = write_location(w, (uint64_t)name + 1, frame.line);
    return w->locations[index];
}

static uint64_t dropped_location(writer *w)
{
    static const char name[] = "[dropped]";
    const sagg_frame frame = {.method = {name, sizeof(name) - 1}};
    if (w->dropped == 0) {
        write_function(w, &frame, (uint64_t)w->names.names + 1);
        w->dropped = write_location(w, (uint64_t)w->names.names + 1, 0);
    }
    return w->dropped;
}

/* ---- samples ---- */

/* Writes a stack, leaf first, after the locations that no earlier stack has used. */
static void put_stack(writer *w, message *ids, uint32_t index)
{
    sagg_stack stack = {0};
    if (index == SAGG_DROPPED)
        put_varint(ids, dropped_location(w));
    else
        (void)sagg_stack_at(w->agg, index, &stack);
    for (uint32_t i = 0; i < stack.count; i++)
        put_varint(ids, location_of(w, sagg_stack_frame(&stack, i)));
}

static void put_label(writer *w, uint64_t key, unsigned field, uint64_t value)
{
    put_number(&w->line, 1, key);
    put_number(&w->line, field, value);
    put_message(&w->part, 3, &w->line);
}

/* Writes a thread's labels. The rows of one thread are adjacent, so that its name is added once. */
static void put_thread(writer *w, uint32_t index)
{
    sagg_thread thread = {0};
    if (!sagg_thread_at(w->agg, index, &thread))
        return;
    if (index != w->thread)
        w->thread_name = thread.name.size > 0 ? string(w, thread.name.data, thread.name.size) : 0;
    w->thread = index;
    if (w->thread_name != 0)
        put_label(w, w->thread_key, 2, w->thread_name);
    if (thread.os_tid > 0)
        put_label(w, w->tid_key, 3, (uint64_t)thread.os_tid);
}

/* Writes one sample for rows that differ in their type only. */
static void write_sample(writer *w, const sagg_entry *rows, size_t count, message *ids)
{
    uint64_t values[PROFILE_TYPE_END] = {rows->totals.samples};
    for (size_t i = 0; i < count; i++)
        values[w->column[rows[i].type]] = rows[i].totals.value;
    put_stack(w, ids, rows->stack);
    put_message(&w->part, 1, ids);
    for (unsigned column = 0; column <= w->columns; column++)
        put_varint(&w->line, values[column]);
    put_message(&w->part, 2, &w->line);
    if (w->threads)
        put_thread(w, rows->thread);
    put_message(&w->field, 2, &w->part);
    send(w);
}

/* Whether two rows are values of the same sample. */
static bool are_one(const sagg_entry *a, const sagg_entry *b)
{
    bool are_twins =
        (a->type == PROFILE_TYPE_ALLOC_BYTES && b->type == PROFILE_TYPE_ALLOC_OBJECTS) ||
        (a->type == PROFILE_TYPE_LOCK_COUNT && b->type == PROFILE_TYPE_LOCK_DELAY);
    return are_twins && a->stack == b->stack && a->thread == b->thread &&
           a->totals.samples == b->totals.samples;
}

static void write_samples(writer *w)
{
    message ids = {0};
    const sagg_entry *rows = w->rows.rows;
    size_t end;
    for (size_t at = 0; at < w->rows.count; at = end) {
        for (end = at + 1; end < w->rows.count && are_one(&rows[end - 1], &rows[end]);)
            end++;
        write_sample(w, rows + at, end - at, &ids);
    }
    w->failed = w->failed || ids.failed;
    free(ids.data);
}

static void write_profile(writer *w, uint32_t types, const recording_info *info)
{
    (void)literal(w, ""); /* string 0 is the empty one */
    w->thread_key = literal(w, "thread");
    w->tid_key = literal(w, "thread_id");
    write_sample_types(w, types);
    write_samples(w);
    if (info->end_ns > info->start_ns) {
        put_number(&w->field, 9, (uint64_t)info->start_ns);
        put_number(&w->field, 10, (uint64_t)info->end_ns - (uint64_t)info->start_ns);
        send(w);
    }
    w->failed = w->failed || w->table.failed;
    deflate_all(w, &w->table, Z_FINISH);
}

/* ---- the order ---- */

static int by_place(const writer *w, uint32_t left, uint32_t right)
{
    sagg_frame one = {0};
    sagg_frame other = {0};
    uint32_t name = w->names.number[left];
    if (name != w->names.number[right])
        return name < w->names.number[right] ? -1 : 1;
    (void)sagg_frame_at(w->agg, left, &one);
    (void)sagg_frame_at(w->agg, right, &other);
    return one.line < other.line ? -1 : one.line > other.line;
}

/* Orders by thread, then by stack from the root down: neighbours are similar, and compress well. */
static int by_path(const void *a, const void *b, void *writer_)
{
    const writer *w = writer_;
    const sagg_entry *one_row = a;
    const sagg_entry *other_row = b;
    sagg_stack left = {0};
    sagg_stack right = {0};
    int threads = table_thread_order(w->agg, one_row->thread, other_row->thread);
    if (threads != 0)
        return threads;
    if (one_row->stack == other_row->stack)
        return one_row->type < other_row->type ? -1 : one_row->type > other_row->type;
    (void)sagg_stack_at(w->agg, one_row->stack, &left);
    (void)sagg_stack_at(w->agg, other_row->stack, &right);
    uint32_t both = left.count < right.count ? left.count : right.count;
    for (uint32_t i = 1; i <= both; i++) {
        uint32_t one = sagg_stack_frame(&left, left.count - i);
        uint32_t other = sagg_stack_frame(&right, right.count - i);
        int order = one != other ? by_place(w, one, other) : 0;
        if (order != 0)
            return order;
    }
    if (left.count != right.count)
        return left.count < right.count ? -1 : 1;
    return table_stack_order(&w->rows, one_row->stack, other_row->stack);
}

/* Returns false without memory. */
static bool prepare(writer *w, uint32_t types)
{
    if (!table_rows_collect(&w->rows, w->agg, types) || !table_names_make(&w->names, w->agg))
        return false;
    if (w->rows.count > 0)
        qsort_r(w->rows.rows, w->rows.count, sizeof(*w->rows.rows), by_path, w);
    w->locations = calloc((size_t)w->names.frames + 1, sizeof(*w->locations));
    w->functions = calloc((size_t)w->names.names + 1, sizeof(*w->functions));
    return w->locations != NULL && w->functions != NULL;
}

bool format_pprof(output *out, const sagg *agg, uint32_t types, bool threads,
                  const recording_info *info)
{
    writer w = {.out = out, .agg = agg, .threads = threads, .thread = SAGG_NO_THREAD};
    /* 31: the largest window, with a gzip header. */
    bool open = prepare(&w, types) && deflateInit2(&w.zip, Z_BEST_SPEED + 5, Z_DEFLATED, 31, 8,
                                                   Z_DEFAULT_STRATEGY) == Z_OK;
    if (open) {
        write_profile(&w, types, info);
        (void)deflateEnd(&w.zip);
    }
    table_rows_free(&w.rows);
    table_names_free(&w.names);
    free(w.locations);
    free(w.functions);
    free(w.field.data);
    free(w.part.data);
    free(w.line.data);
    free(w.table.data);
    if (!open || w.failed)
        complain("not enough memory to write the document");
    return open && !w.failed;
}
