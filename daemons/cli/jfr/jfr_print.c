/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr print`: prints all events of a recording, as the JDK's tool does. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/jfr/jfr_json.h"
#include "cli/jfr/jfr_look.h"
#include "cli/jfr/jfr_pretty.h"

/* The JDK sorts the events of a chunk by their ends; events with the same end keep the file's
 * order. */
typedef struct place {
    uint64_t end_ticks;
    uint64_t offset;
} place;

typedef struct places {
    place *list;
    size_t count;
    size_t cap;
} places;

static int compare(const void *left, const void *right)
{
    const place *a = left;
    const place *b = right;
    if (a->end_ticks != b->end_ticks)
        return (int64_t)a->end_ticks < (int64_t)b->end_ticks ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool add(places *p, const jfr_event *event)
{
    if (p->count == p->cap) {
        size_t cap = p->cap == 0 ? 4096 : p->cap * 2;
        place *list = realloc(p->list, cap * sizeof(*list));
        if (list == NULL)
            return false;
        p->list = list;
        p->cap = cap;
    }
    p->list[p->count++] = (place){event->end_ticks, event->offset};
    return true;
}

/* Collects the positions of the chunk's chosen events, and sorts them. */
static bool collect(look *l, places *p)
{
    jfr_event event;
    p->count = 0;
    if (!look_begin_events(l, 0))
        return !l->failed;
    while (look_next_event(l, &event)) {
        if (add(p, &event))
            continue;
        complain("not enough memory to sort the events");
        l->failed = true;
        return false;
    }
    bool sorted = true;
    for (size_t i = 1; i < p->count && sorted; i++)
        sorted = compare(&p->list[i - 1], &p->list[i]) <= 0;
    if (!sorted)
        qsort(p->list, p->count, sizeof(*p->list), compare);
    return !l->failed;
}

/* The writer of one format. */
typedef struct printer {
    jfr_json *json; /* NULL: text */
    jfr_pretty *pretty;
    bool begun; /* the first event has been written */
} printer;

static int print_json(printer *p, text *out, const jfr_event *event, jfr_error *err)
{
    size_t start = out->len;
    if (p->begun)
        text_bytes(out, ", ", 2);
    int rc = jfr_json_event(p->json, event, 2, err);
    if (rc < 0)
        out->len = start;
    p->begun = p->begun || rc == 0;
    return rc;
}

static int print_event(printer *p, text *out, const jfr_event *event, jfr_error *err)
{
    return p->json != NULL ? print_json(p, out, event, err)
                           : jfr_pretty_event(p->pretty, event, err);
}

static void print_chunk(look *l, printer *p, places *list)
{
    jfr_error err = {.code = 0};
    int rc = p->json != NULL ? jfr_json_begin_chunk(p->json, l->chunk, &err)
                             : jfr_pretty_begin_chunk(p->pretty, l->chunk, &err);
    if (rc < 0) {
        (void)look_survives(l, rc, &err);
        return;
    }
    if (!collect(l, list))
        return;
    for (size_t i = 0; i < list->count && l->out->error == 0; i++) {
        jfr_event event;
        rc = jfr_event_at(l->chunk, list->list[i].offset, &event, &err);
        if (rc == 0)
            rc = print_event(p, l->out, &event, &err);
        if (rc < 0 && !look_survives(l, rc, &err))
            return;
        if (l->out->len >= TEXT_PIECE)
            text_flush(l->out);
    }
}

static void print_all(look *l, printer *p)
{
    static const char head[] = "{\n  \"recording\": {\n    \"events\": [";
    static const char tail[] = "]\n  }\n}";
    places list = {.count = 0};
    bool any = false;
    while (look_next_chunk(l)) {
        if (!any && p->json != NULL)
            text_string(l->out, head);
        any = true;
        print_chunk(l, p, &list);
    }
    if (any && p->json != NULL)
        text_string(l->out, tail);
    free(list.list);
}

static int jfr_print_run(cli_options *o)
{
    text out = {.fd = 1};
    look l;
    if (!look_open(&l, o, &out))
        return EXIT_UNREADABLE;
    printer p = {.begun = false};
    if (o->json)
        p.json = jfr_json_new(&out, JFR_JSON_JDK, o->stack_depth);
    else
        p.pretty = jfr_pretty_new(&out, o->stack_depth);
    if (p.json == NULL && p.pretty == NULL) {
        complain("not enough memory to print events");
        l.failed = true;
    }
    print_all(&l, &p);
    int rc = look_close(&l);
    jfr_json_free(p.json);
    jfr_pretty_free(p.pretty);
    return rc;
}

const command jfr_print_command = {
    .name = "jfr print",
    .summary = "Events as the JDK's tool prints them, text or JSON",
    .usage = "FILE [OPTIONS]",
    .about = "Prints the events of a recording in the order in which they ended, chunk by chunk, "
             "as the JDK's `jfr print` does. - is standard input.",
    .ending =
        "Exit codes: 0 all was read; 3 printed, but a part of the recording is damaged or cut "
        "off, which standard error names; 1 nothing could be read (with the offset); 2 wrong "
        "usage.",
    .bit = OF_JFR_PRINT,
    .operands = OPERANDS_FILE,
    .run = jfr_print_run,
};
