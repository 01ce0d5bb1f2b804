/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr summary`: counts the events of a recording by type. */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/jfr/jfr_look.h"
#include "cli/jfr/jfr_names.h"
#include "cli/jfr/jfr_times.h"

typedef struct row {
    char *name;
    size_t len; /* of name */
    size_t index;
    uint64_t count;
    uint64_t bytes;
} row;

typedef struct summary {
    row **rows;
    size_t count;
    size_t cap;
    void *names; /* a search tree of the rows: a recording may describe half a million types */
    jfr_chunk_info first;
    uint64_t chunks;
    uint64_t duration_ns;
    uint64_t bytes;
    uint64_t recorder_samples; /* lost by the recorder: see jfr_loss */
    uint64_t recorder_bytes;
} summary;

/* The rows that a chunk has besides its types': they follow the types' rows in this order. */
enum { ROW_METADATA, ROW_CHECKPOINT, ROW_UNDEFINED, EXTRA_ROWS };

static const char *const extra_names[EXTRA_ROWS] = {"jdk.Metadata", "jdk.Checkpoint",
                                                    "(of undefined types)"};

static int by_name(const void *left, const void *right)
{
    const row *a = left;
    const row *b = right;
    size_t common = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->name, b->name, common);
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static void free_row(row *r)
{
    if (r != NULL)
        free(r->name);
    free(r);
}

/* Adds `r`, which the summary then owns. Without memory, frees it. */
static bool keep_row(summary *s, row *r)
{
    if (s->count == s->cap) {
        size_t cap = s->cap == 0 ? 256 : s->cap * 2;
        row **rows = realloc(s->rows, cap * sizeof(*rows));
        if (rows != NULL) {
            s->rows = rows;
            s->cap = cap;
        }
    }
    r->index = s->count;
    if (r->name == NULL || s->count == s->cap || tsearch(r, &s->names, by_name) == NULL) {
        free_row(r);
        return false;
    }
    s->rows[s->count++] = r;
    return true;
}

static bool add_row(summary *s, const char *name, size_t len, size_t *index)
{
    const row key = {.name = (char *)(uintptr_t)name, .len = len};
    row *const *known = tfind(&key, &s->names, by_name);
    *index = known != NULL ? (*known)->index : s->count;
    if (known != NULL)
        return true;
    row *added = malloc(sizeof(*added));
    if (added == NULL)
        return false;
    *added = (row){.name = strndup(name, len), .len = len};
    return keep_row(s, added);
}

static void nothing(void *node)
{
    (void)node;
}

static void free_rows(summary *s)
{
    tdestroy(s->names, nothing);
    for (size_t i = 0; i < s->count; i++)
        free_row(s->rows[i]);
    free(s->rows);
}

/* Finds the rows of a chunk: rows[i] is the row of type i; those of EXTRA_ROWS follow. */
static bool find_rows(summary *s, const jfr_type *types, uint32_t count, size_t *rows)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = SIZE_MAX;
        if (types[i].is_event && types[i].name.len > 0 &&
            !add_row(s, types[i].name.data, types[i].name.len, &rows[i]))
            return false;
    }
    for (int i = 0; i < ROW_UNDEFINED; i++) {
        if (!add_row(s, extra_names[i], strlen(extra_names[i]), &rows[count + (uint32_t)i]))
            return false;
    }
    return true;
}

static bool count_event(summary *s, const jfr_event *e, uint32_t types, size_t *rows)
{
    uint32_t extra = e->type_id < ROW_UNDEFINED ? (uint32_t)e->type_id : ROW_UNDEFINED;
    size_t *at = &rows[e->type != NULL ? e->type->index : types + extra];
    if (*at == SIZE_MAX) {
        const char *name = extra_names[ROW_UNDEFINED];
        if (!add_row(s, name, strlen(name), at))
            return false;
    }
    s->rows[*at]->count++;
    s->rows[*at]->bytes += e->size;
    return true;
}

static bool count_chunk(look *l, summary *s)
{
    const jfr_type *types;
    uint32_t count;
    jfr_error err = {.code = 0};
    jfr_event event;
    int rc = jfr_chunk_types(l->chunk, &types, &count, &err);
    if (rc < 0)
        return look_survives(l, rc, &err);
    size_t *rows = malloc(((size_t)count + EXTRA_ROWS) * sizeof(*rows));
    bool whole = rows != NULL && find_rows(s, types, count, rows);
    if (whole)
        rows[count + ROW_UNDEFINED] = SIZE_MAX;
    if (whole && look_begin_events(l, JFR_EVENTS_RAW)) {
        while (whole && look_next_event(l, &event))
            whole = count_event(s, &event, count, rows);
    }
    free(rows);
    return whole;
}

static void count_all(look *l, summary *s)
{
    while (look_next_chunk(l)) {
        const jfr_chunk_info *info = jfr_chunk_get_info(l->chunk);
        if (s->chunks++ == 0)
            s->first = *info;
        s->duration_ns += info->duration_ns;
        s->bytes += info->size;
        if (count_chunk(l, s) || l->failed)
            continue;
        complain("not enough memory to count events");
        l->failed = true;
    }
    jfr_loss loss;
    jfr_file_loss(l->file, &loss);
    s->recorder_samples = loss.recorder_samples;
    s->recorder_bytes = loss.recorder_bytes;
}

static int compare(const void *left, const void *right)
{
    const row *a = *(row *const *)left;
    const row *b = *(row *const *)right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void put_start(text *out, const summary *s)
{
    int64_t ns = s->first.start_ns;
    int64_t seconds = ns / 1000000000 - (ns % 1000000000 < 0);
    text_time(out, seconds, (uint32_t)(ns - seconds * 1000000000), 0);
}

static void put_json(text *out, const summary *s)
{
    text_printf(out, "{\"version\":\"%u.%u\",\"chunks\":%" PRIu64 ",\"start\":\"", s->first.major,
                s->first.minor, s->chunks);
    put_start(out, s);
    text_printf(out, "\",\"duration_ns\":%" PRIu64 ",\"bytes\":%" PRIu64, s->duration_ns, s->bytes);
    text_printf(out,
                ",\"recorder_lost\":{\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64 "},\"events\":[",
                s->recorder_samples, s->recorder_bytes);
    for (size_t i = 0; i < s->count; i++) {
        const row *r = s->rows[i];
        text_string(out, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        text_json(out, r->name, strlen(r->name), JSON_UTF8);
        text_printf(out, ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", r->count, r->bytes);
    }
    text_string(out, "\n]}\n");
}

static void put_text(text *out, const summary *s)
{
    size_t width = strlen("Event type");
    for (size_t i = 0; i < s->count; i++)
        width = s->rows[i]->len > width ? s->rows[i]->len : width;
    text_printf(out, "Version:  %u.%u\nChunks:   %" PRIu64 "\nStart:    ", s->first.major,
                s->first.minor, s->chunks);
    put_start(out, s);
    text_printf(out, "\nDuration: %.3f s\nBytes:    %" PRIu64 "\n\n", (double)s->duration_ns / 1e9,
                s->bytes);
    text_string(out, "Event type");
    text_spaces(out, width - strlen("Event type"));
    text_string(out, "       Count         Bytes\n");
    for (size_t i = 0; i < s->count; i++) {
        const row *r = s->rows[i];
        names_text_bare(out, (jfr_str){r->name, r->len});
        text_spaces(out, width - strlen(r->name));
        text_printf(out, "  %10" PRIu64 "  %12" PRIu64 "\n", r->count, r->bytes);
    }
}

static int jfr_summary_run(cli_options *o)
{
    text out = {.fd = 1};
    look l;
    summary s = {.count = 0};
    if (!look_open(&l, o, &out))
        return EXIT_UNREADABLE;
    count_all(&l, &s);
    if (s.count > 0)
        qsort(s.rows, s.count, sizeof(*s.rows), compare);
    if (s.chunks > 0 && !l.failed) {
        if (o->json)
            put_json(&out, &s);
        else
            put_text(&out, &s);
    }
    free_rows(&s);
    return look_close(&l);
}

const command jfr_summary_command = {
    .name = "jfr summary",
    .summary = "Which events there are, and how many",
    .usage = "FILE [--json]",
    .about = "Counts the events of a recording by type. A type that the recording describes but "
             "has no events of has the count 0. - is standard input.",
    .ending =
        "Exit codes: 0 all was read; 3 printed, but a part of the recording is damaged or cut "
        "off, which standard error names; 1 nothing could be read (with the offset); 2 wrong "
        "usage.",
    .bit = OF_JFR_SUMMARY,
    .operands = OPERANDS_FILE,
    .run = jfr_summary_run,
};
