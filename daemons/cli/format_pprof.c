/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: one gzipped protobuf message (github.com/google/pprof, proto/profile.proto). Messages are
 * written field by field; the numbers below are that file's.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "command.h"
#include "formats.h"
#include "frame_name.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* A message being made, kept for the next one of its kind. */
typedef struct message {
    unsigned char *data;
    size_t size, room;
    bool failed;
} message;

typedef struct writer {
    output *out;
    z_stream zip;
    message field, part, line;
    uint64_t strings; /* numbers of the string table given out */
    message table;
    bool failed;
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
            return; /* the output's to report */
    } while (w->zip.avail_out == 0);
}

/* Sends the profile's field in w->field. */
static void send(writer *w)
{
    w->failed = w->failed || w->field.failed;
    deflate_all(w, &w->field, Z_NO_FLUSH);
    w->field.size = 0;
}

/* Strings go to the table's end; the table is written last. Equal strings may stand there twice. */
static uint64_t string(writer *w, const char *data, size_t size)
{
    put_bytes(&w->table, 6, data, size);
    return w->strings++;
}

static uint64_t literal(writer *w, const char *text)
{
    return string(w, text, strlen(text));
}

/* ---- parts ---- */

static const char *unit_name(sagg_str unit)
{
    if (unit.size == 2 && memcmp(unit.data, "ns", 2) == 0)
        return "nanoseconds";
    return unit.size == 5 && memcmp(unit.data, "bytes", 5) == 0 ? "bytes" : "count";
}

static void write_sample_type(writer *w, const sagg_tree_view *view, bool is_default)
{
    uint64_t name = string(w, view->type.data, view->type.size);
    put_number(&w->part, 1, name);
    put_number(&w->part, 2, literal(w, unit_name(view->unit)));
    put_message(&w->field, 1, &w->part);
    if (is_default)
        put_number(&w->field, 14, name);
    send(w);
}

static void write_frame(writer *w, const sagg_frame *frame, uint64_t id)
{
    char *name = NULL;
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
    put_number(&w->line, 1, id);
    put_number(&w->line, 2, frame->line);
    put_number(&w->part, 1, id);
    put_message(&w->part, 4, &w->line);
    put_message(&w->field, 4, &w->part);
    send(w);
}

/* What the samples of one tree have in common. */
typedef struct place {
    size_t tree, trees;
    uint64_t first_id; /* of the tree's frame 0 */
} place;

/* Leaf first; a value for each sample type, all but one 0. */
static void write_sample(writer *w, const place *at, const uint32_t *path, uint32_t depth,
                         uint64_t value)
{
    for (uint32_t d = depth; d-- > 0;)
        put_varint(&w->line, at->first_id + path[d]);
    put_message(&w->part, 1, &w->line);
    for (size_t t = 0; t < at->trees; t++)
        put_varint(&w->line, t == at->tree ? value : 0);
    put_message(&w->part, 2, &w->line);
    put_message(&w->field, 2, &w->part);
    send(w);
}

static void write_samples(writer *w, const sagg_tree_view *view, const place *at)
{
    uint32_t *path = malloc((view->node_count + 1) * sizeof(*path));
    if (path == NULL) {
        w->failed = true;
        return;
    }
    for (size_t i = 0; i < view->node_count; i++) {
        if (view->depth[i] > 0)
            path[view->depth[i] - 1] = view->frame[i];
        if (view->self[i] > 0)
            write_sample(w, at, path, view->depth[i], view->self[i]);
    }
    free(path);
}

static void write_profile(writer *w, const sagg_tree *const *trees, size_t count,
                          const recording_info *info)
{
    place at = {.trees = count, .first_id = 1};
    (void)literal(w, ""); /* number 0 */
    for (size_t t = 0; t < count; t++)
        write_sample_type(w, sagg_tree_get(trees[t]), t == 0);
    for (size_t t = 0; t < count; t++) {
        const sagg_tree_view *view = sagg_tree_get(trees[t]);
        for (size_t i = 0; i < view->frame_count; i++)
            write_frame(w, &view->frames[i], at.first_id + i);
        at.tree = t;
        write_samples(w, view, &at);
        at.first_id += view->frame_count;
    }
    if (info->end_ns > info->start_ns) {
        put_number(&w->field, 9, (uint64_t)info->start_ns);
        put_number(&w->field, 10, (uint64_t)info->end_ns - (uint64_t)info->start_ns);
        send(w);
    }
    w->failed = w->failed || w->table.failed;
    deflate_all(w, &w->table, Z_FINISH);
}

bool format_pprof(output *out, const sagg_tree *const *trees, size_t count,
                  const recording_info *info)
{
    writer w = {.out = out};
    /* 31: the largest window, with gzip's header. */
    bool open =
        deflateInit2(&w.zip, Z_BEST_SPEED + 5, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (open) {
        write_profile(&w, trees, count, info);
        (void)deflateEnd(&w.zip);
    }
    free(w.field.data);
    free(w.part.data);
    free(w.line.data);
    free(w.table.data);
    if (!open || w.failed)
        complain("there is no memory to write the document");
    return open && !w.failed;
}
