/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jfr metadata`: the types that a recording describes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/jfr/jfr_look.h"
#include "cli/jfr/jfr_names.h"

/* ---- which types ---- */

/* Names that have been printed: the chunks of a recording repeat them. */
typedef struct seen {
    char **names;
    size_t count;
} seen;

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool was_seen(const seen *s, const char *name)
{
    return s->count > 0 &&
           bsearch(&name, s->names, s->count, sizeof(*s->names), compare_names) != NULL;
}

/* Adds the names that are new, and takes over all of them. */
static bool add_names(seen *s, char **names, size_t count)
{
    char **grown = realloc(s->names, (s->count + count + 1) * sizeof(*grown));
    if (grown == NULL)
        return false;
    s->names = grown;
    memcpy(s->names + s->count, names, count * sizeof(*names));
    s->count += count;
    qsort(s->names, s->count, sizeof(*s->names), compare_names);
    return true;
}

/* ---- one type ---- */

static void put_name(text *out, const char *name)
{
    text_char(out, '"');
    text_string(out, name);
    text_string(out, "\":");
}

static void put_json_text(text *out, const char *name, jfr_str s)
{
    if (s.data == NULL)
        return;
    text_char(out, ',');
    put_name(out, name);
    text_json(out, s.data, s.len, JSON_UTF8);
}

static void put_json_annotations(text *out, const jfr_annotation *list, uint32_t count)
{
    text_string(out, ",\"annotations\":[");
    for (uint32_t i = 0; i < count; i++) {
        const jfr_annotation *a = &list[i];
        text_string(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        text_json(out, a->name.data, a->name.len, JSON_UTF8);
        for (uint32_t k = 0; k < a->value_count; k++) {
            text_string(out, k == 0 ? ",\"values\":{" : ",");
            text_json(out, a->values[k].name.data, a->values[k].name.len, JSON_UTF8);
            text_char(out, ':');
            text_json(out, a->values[k].text.data, a->values[k].text.len, JSON_UTF8);
        }
        text_string(out, a->value_count > 0 ? "}}" : "}");
    }
    text_char(out, ']');
}

static jfr_str type_name(const jfr_type *types, const jfr_field *field)
{
    return field->type != JFR_NONE ? types[field->type].name : (jfr_str){NULL, 0};
}

static void put_json_field(text *out, const jfr_type *types, const jfr_field *f)
{
    text_string(out, "{\"name\":");
    text_json(out, f->name.data, f->name.len, JSON_UTF8);
    put_json_text(out, "type", type_name(types, f));
    text_printf(out, ",\"array\":%s,\"constant\":%s", f->is_array ? "true" : "false",
                f->is_constant ? "true" : "false");
    put_json_text(out, "label", f->label);
    put_json_text(out, "description", f->description);
    put_json_text(out, "content", f->content);
    put_json_text(out, "unit", f->content_unit);
    put_json_annotations(out, f->annotations, f->annotation_count);
    text_char(out, '}');
}

static void put_json_type(text *out, const jfr_type *types, const jfr_type *t)
{
    text_string(out, "{\"name\":");
    text_json(out, t->name.data, t->name.len, JSON_UTF8);
    text_printf(out, ",\"id\":%" PRIu64 ",\"event\":%s,\"simple\":%s", t->id,
                t->is_event ? "true" : "false", t->is_simple ? "true" : "false");
    put_json_text(out, "super", t->super_name);
    put_json_text(out, "label", t->label);
    put_json_text(out, "description", t->description);
    put_json_annotations(out, t->annotations, t->annotation_count);
    text_string(out, ",\"fields\":[");
    for (uint32_t i = 0; i < t->field_count; i++) {
        if (i > 0)
            text_char(out, ',');
        put_json_field(out, types, &t->fields[i]);
    }
    text_string(out, "]}");
}

static jfr_str simple_name(jfr_str s)
{
    for (size_t i = s.len; i > 0; i--) {
        if (s.data[i - 1] == '.')
            return (jfr_str){s.data + i, s.len - i};
    }
    return s;
}

static bool is_one_value(const jfr_annotation *a)
{
    return a->value_count == 1 && a->values[0].name.len >= 5 &&
           memcmp(a->values[0].name.data, "value", 5) == 0;
}

static void put_annotation(text *out, const jfr_annotation *a)
{
    text_char(out, '@');
    names_text_bare(out, simple_name(a->name));
    for (uint32_t i = 0; i < a->value_count; i++) {
        text_string(out, i == 0 ? "(" : ", ");
        if (!is_one_value(a)) {
            names_text_bare(out, a->values[i].name);
            text_string(out, " = ");
        }
        names_text(out, a->values[i].text);
    }
    text_string(out, a->value_count > 0 ? ")\n" : "\n");
}

static void put_annotations(text *out, const jfr_annotation *list, uint32_t count,
                            const char *indent)
{
    for (uint32_t i = 0; i < count; i++) {
        text_string(out, indent);
        put_annotation(out, &list[i]);
    }
}

static void put_type(text *out, const jfr_type *types, const jfr_type *t)
{
    text_string(out, "@Name(");
    names_text(out, t->name);
    text_string(out, ")\n");
    put_annotations(out, t->annotations, t->annotation_count, "");
    text_string(out, "class ");
    names_text_bare(out, simple_name(t->name));
    if (t->super_name.data != NULL) {
        text_string(out, " extends ");
        names_text_bare(out, t->super_name);
    }
    text_string(out, " {\n");
    for (uint32_t i = 0; i < t->field_count; i++) {
        const jfr_field *f = &t->fields[i];
        if (i > 0)
            text_char(out, '\n');
        put_annotations(out, f->annotations, f->annotation_count, "  ");
        text_string(out, "  ");
        names_text_bare(out, simple_name(type_name(types, f)));
        text_string(out, f->is_array ? "[] " : " ");
        names_text_bare(out, f->name);
        text_string(out, ";\n");
    }
    text_string(out, "}\n\n");
}

/* ---- all types ---- */

typedef struct printer {
    look *look;
    seen seen;
} printer;

static bool is_chosen(const cli_options *o, const jfr_type *t)
{
    return (o->events == NULL && o->categories == NULL) ||
           jfr_type_matches(t, o->events, o->categories);
}

static bool print_type(printer *p, const jfr_type *types, const jfr_type *t, char **name)
{
    text *out = p->look->out;
    *name = t->name.data != NULL ? strndup(t->name.data, t->name.len) : NULL;
    if (*name == NULL || was_seen(&p->seen, *name) || !is_chosen(p->look->options, t)) {
        free(*name);
        return false;
    }
    if (p->look->options->json) {
        text_string(out, p->look->shown > 0 ? ",\n" : "\n");
        put_json_type(out, types, t);
    } else {
        put_type(out, types, t);
    }
    p->look->shown++;
    if (out->len >= TEXT_PIECE)
        text_flush(out);
    return true;
}

static bool print_chunk(printer *p)
{
    const jfr_type *types;
    uint32_t count;
    jfr_error err = {.code = 0};
    int rc = jfr_chunk_types(p->look->chunk, &types, &count, &err);
    if (rc < 0)
        return look_survives(p->look, rc, &err);
    char **names = calloc((size_t)count + 1, sizeof(*names));
    size_t named = 0;
    for (uint32_t i = 0; names != NULL && i < count; i++)
        named += print_type(p, types, &types[i], &names[named]);
    bool added = names != NULL && add_names(&p->seen, names, named);
    for (size_t i = 0; !added && i < named; i++)
        free(names[i]);
    free(names);
    return added;
}

static int jfr_metadata_run(cli_options *o)
{
    text out = {.fd = 1};
    look l;
    if (!look_open(&l, o, &out))
        return EXIT_UNREADABLE;
    printer p = {.look = &l};
    while (look_next_chunk(&l)) {
        if (o->json && l.chunks == 1)
            text_string(&out, "{\"types\":[");
        if (print_chunk(&p) || l.failed)
            continue;
        complain("not enough memory to print types");
        l.failed = true;
    }
    if (o->json && l.chunks > 0)
        text_string(&out, "\n]}\n");
    for (size_t i = 0; i < p.seen.count; i++)
        free(p.seen.names[i]);
    free(p.seen.names);
    return look_close(&l);
}

const command jfr_metadata_command = {
    .name = "jfr metadata",
    .summary = "The types of events and values, with their fields",
    .usage = "FILE [OPTIONS]",
    .about = "Prints the types of events, values and annotations that a recording describes, with "
             "their fields and annotations, in a form like Java source. A type that several chunks "
             "describe is printed once, as in the first of them. - is standard input.",
    .ending =
        "Exit codes: 0 all was read; 3 printed, but a part of the recording is damaged or cut "
        "off, which standard error names; 1 nothing could be read (with the offset); 2 wrong "
        "usage.",
    .bit = OF_JFR_METADATA,
    .operands = OPERANDS_FILE,
    .run = jfr_metadata_run,
};
