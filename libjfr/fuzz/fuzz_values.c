/* SPDX-License-Identifier: Apache-2.0 */
/* Reads events of any type: schema, constants, walks, trees of values, columns. */
#include "fuzz.h"

#include <jfr/jfr.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Small enough that hostile constants that contain each other stay fast. */
enum { MAX_EVENTS = 200, MAX_CONSTANTS = 20, MAX_VALUES = 5000 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

struct state {
    jfr_chunk *chunk;
    const jfr_type *types;
    uint32_t type_count;
    uint64_t depth;
};

static void check_variant(const struct state *s, const jfr_variant *v)
{
    must(v->kind <= JFR_VARIANT_CUT);
    if (v->kind == JFR_VARIANT_STRUCT)
        must(v->type < s->type_count && v->end >= v->offset);
    if (v->kind == JFR_VARIANT_STRING)
        must(v->text.data != NULL);
    uint32_t count = 0;
    if (v->constant != JFR_NONE) {
        must(jfr_chunk_constant_count(s->chunk, v->type, &count, NULL) == 0);
        must(v->constant < count);
    }
}

static int on_begin(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    struct state *s = ctx;
    check_variant(s, value);
    must(field == NULL || field->name.data != NULL || field->name.len == 0);
    if (index % 7 == 3)
        return 1;
    s->depth++;
    return 0;
}

static int on_end(void *ctx, const jfr_field *field, const jfr_variant *value)
{
    struct state *s = ctx;
    (void)field;
    (void)value;
    must(s->depth-- > 0);
    return 0;
}

static int on_scalar(void *ctx, const jfr_field *field, uint32_t index, const jfr_variant *value)
{
    struct state *s = ctx;
    (void)index;
    int64_t ns;
    check_variant(s, value);
    if (field != NULL) {
        (void)jfr_variant_time_ns(jfr_chunk_get_info(s->chunk), field, value, &ns);
        (void)jfr_variant_span_ns(jfr_chunk_get_info(s->chunk), field, value, &ns);
    }
    return 0;
}

static void visit(struct state *s, const jfr_variant *value)
{
    jfr_visitor visitor = JFR_VISITOR_INIT;
    visitor.ctx = s;
    visitor.begin = on_begin;
    visitor.end = on_end;
    visitor.scalar = on_scalar;
    visitor.max_depth = 40;
    visitor.max_values = MAX_VALUES;
    s->depth = 0;
    if (jfr_variant_visit(s->chunk, value, &visitor, NULL) == 0)
        must(s->depth == 0);
}

static const char *const paths[] = {
    "startTime",  "eventThread.group.name", "stackTrace.frames[1].method.type.name",
    "numbers[2]", "weird.frames[0].type",   "name"};
enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

/* Checks that following a path and reading the compiled path give the same value. */
static void check_row(struct state *s, const jfr_variant *value)
{
    jfr_columns *columns;
    jfr_variant row[PATHS];
    if (jfr_columns_open(&columns, s->chunk, value->type, paths, PATHS, NULL) < 0)
        return;
    if (jfr_columns_read(columns, value, row, NULL) == 0) {
        for (size_t i = 0; i < PATHS; i++) {
            jfr_variant v;
            check_variant(s, &row[i]);
            int rc = jfr_variant_path(s->chunk, value, paths[i], &v, NULL);
            must(rc < 0 || (rc == 1) == (jfr_columns_field(columns, i) != NULL));
            if (rc == 1 && row[i].kind != JFR_VARIANT_TIME && row[i].kind != JFR_VARIANT_SPAN &&
                jfr_columns_field(columns, i)->unit == JFR_UNIT_NONE)
                must(v.kind == row[i].kind && v.constant == row[i].constant);
        }
    }
    jfr_columns_close(columns);
}

static void check_events(struct state *s)
{
    jfr_events *events;
    jfr_event event;
    uint64_t last = 0;
    if (jfr_events_open(&events, s->chunk, NULL, NULL) < 0)
        return;
    for (int i = 0; i < MAX_EVENTS && jfr_events_next(events, &event, NULL) == 1; i++) {
        must(event.type != NULL && event.type->is_event && event.offset > last);
        last = event.offset;
        jfr_event again;
        must(jfr_event_at(s->chunk, event.offset, &again, NULL) == 0);
        must(again.end_ticks == event.end_ticks && again.type == event.type);
        visit(s, &event.value);
        if (i % 16 == 0)
            check_row(s, &event.value);
    }
    jfr_events_close(events);
}

static void check_constants(struct state *s)
{
    for (uint32_t type = 0; type < s->type_count; type++) {
        uint32_t count = 0;
        if (jfr_chunk_constant_count(s->chunk, type, &count, NULL) < 0)
            return;
        for (uint32_t i = 0; i < count && i < MAX_CONSTANTS; i++) {
            jfr_variant value;
            if (jfr_chunk_constant(s->chunk, type, i, &value, NULL) < 0)
                continue;
            check_variant(s, &value);
            visit(s, &value);
        }
        (void)jfr_type_matches(&s->types[type], "jdk.*,?est*", "*a*,TB");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = JFR_WALK_UNFINISHED;
    options.max_unpacked_bytes = 1 << 22;
    options.max_pool_entries = 1 << 16;
    options.max_decoded_bytes = 1 << 26;
    jfr_file *file;
    if (jfr_open_mem(&file, data, size, &options, NULL) < 0)
        return 0;
    struct state s = {.chunk = NULL};
    int rc;
    while ((rc = jfr_next_chunk(file, &s.chunk, NULL)) != 0) {
        if (rc < 0 || jfr_chunk_types(s.chunk, &s.types, &s.type_count, NULL) < 0)
            continue;
        check_constants(&s);
        check_events(&s);
    }
    jfr_close(file);
    return 0;
}
