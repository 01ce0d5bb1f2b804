/* SPDX-License-Identifier: Apache-2.0 */
#include <recording/meta.h>

#include <base/utf8.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

typedef struct writer {
    FILE *to;
    bool first; /* the next member is the first of its object or list, without a comma before it */
} writer;

static void separate(writer *w)
{
    if (!w->first)
        (void)fputc(',', w->to);
    w->first = false;
}

/* Each byte that is not UTF-8 becomes U+FFFD, because names of files and events can be any bytes,
 * or be cut. */
static void write_characters(writer *w, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = utf8_sequence(at, left);
        if (size == 0)
            (void)fputs("\\ufffd", w->to);
        else if (*at < 0x20)
            (void)fprintf(w->to, "\\u%04x", *at);
        else
            (void)fprintf(w->to, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)size,
                          (const char *)at);
        at += size > 0 ? size : 1;
        left -= size > 0 ? size : 1;
    }
}

static void write_string(writer *w, const char *text)
{
    (void)fputc('"', w->to);
    write_characters(w, text);
    (void)fputc('"', w->to);
}

static void write_key(writer *w, const char *key)
{
    separate(w);
    write_string(w, key);
    (void)fputc(':', w->to);
}

static void begin(writer *w, char bracket)
{
    (void)fputc(bracket, w->to);
    w->first = true;
}

static void end(writer *w, char bracket)
{
    (void)fputc(bracket, w->to);
    w->first = false;
}

static void set_text(writer *w, const char *key, const char *text)
{
    if (text[0] == '\0')
        return;
    write_key(w, key);
    write_string(w, text);
}

/* Writes the number as a string, so that readers keep all 64 bits. */
static void set_number(writer *w, const char *key, int64_t number)
{
    write_key(w, key);
    (void)fprintf(w->to, "\"%" PRId64 "\"", number);
}

static void set_count(writer *w, const char *key, uint64_t count)
{
    if (count == 0)
        return;
    write_key(w, key);
    (void)fprintf(w->to, "%" PRIu64, count);
}

/* ---- members ---- */

static void set_intervals(writer *w, const recording_info *info)
{
    write_key(w, "intervals");
    begin(w, '{');
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const profile_type_info *row = profile_type_get(type);
        if (row != NULL && info->interval[type] != 0)
            set_number(w, row->name, (int64_t)info->interval[type]);
    }
    end(w, '}');
}

static void set_loss(writer *w, const recording_info *info)
{
    write_key(w, "loss");
    begin(w, '{');
    set_count(w, "chunks_lost", info->chunks_lost);
    set_count(w, "chunks_partial", info->chunks_partial);
    set_count(w, "bytes_lost", info->bytes_lost);
    set_count(w, "recorder_samples", info->recorder_samples);
    set_count(w, "recorder_bytes", info->recorder_bytes);
    set_count(w, "recorder_events", info->recorder_events);
    set_count(w, "bad_events", info->counts.bad_events);
    set_count(w, "bad_stacks", info->counts.bad_stacks);
    set_count(w, "stackless_samples", info->counts.stackless_samples);
    set_count(w, "unmeasured_events", info->counts.unmeasured_events);
    end(w, '}');
}

static void set_unread_events(writer *w, const recording *rec)
{
    const recording_unread *rows;
    size_t count = recording_unread_events(rec, &rows);
    write_key(w, "unread_events");
    begin(w, '{');
    for (size_t i = 0; i < count; i++)
        set_count(w, rows[i].event, rows[i].count);
    end(w, '}');
}

static void add_note(writer *w, const char *start, const char *text)
{
    separate(w);
    (void)fputc('"', w->to);
    write_characters(w, start);
    write_characters(w, text);
    (void)fputc('"', w->to);
}

/* A recording's notes of one list. */
typedef struct noting {
    writer *w;
    const char *side; /* what each begins with: in a comparison there are two recordings */
    bool by_design;
} noting;

static void take_note(void *ctx, recording_severity severity, const char *text)
{
    const noting *to = ctx;
    if ((severity == RECORDING_BY_DESIGN) == to->by_design)
        add_note(to->w, to->side, text);
}

static void add_notes(writer *w, const recording *rec, const recording *before, bool by_design)
{
    if (before != NULL)
        recording_notes(before, take_note, &(noting){w, "before: ", by_design});
    recording_notes(rec, take_note, &(noting){w, before != NULL ? "after: " : "", by_design});
}

static void set_notes(writer *w, const recording *rec, const recording *before, const char *absent)
{
    char dropped[64];
    recording_info info;
    recording_get_info(rec, &info);
    (void)snprintf(dropped, sizeof(dropped),
                   "%" PRIu64 " events were dropped by the recorder itself", info.recorder_events);
    write_key(w, "notes");
    begin(w, '[');
    add_notes(w, rec, before, false);
    if (info.recorder_events > 0)
        add_note(w, "", dropped);
    if (absent[0] != '\0')
        add_note(w, "not recorded: ", absent);
    end(w, ']');
    write_key(w, "not_counted");
    begin(w, '[');
    add_notes(w, rec, before, true);
    end(w, ']');
}

char *recording_meta(const recording *rec, const recording *before, const char *title,
                     const char *absent)
{
    char *text = NULL;
    size_t size;
    recording_info info;
    writer w = {.to = open_memstream(&text, &size)};
    if (w.to == NULL)
        return NULL;
    recording_get_info(rec, &info);
    begin(&w, '{');
    set_text(&w, "title", title);
    set_text(&w, "generator", "hotstack " HOTSTACK_VERSION);
    set_text(&w, "engine", info.engine);
    set_text(&w, "java_args", info.java_args);
    set_text(&w, "jvm_version", info.jvm_version);
    set_number(&w, "start_ns", info.start_ns);
    set_number(&w, "end_ns", info.end_ns);
    set_intervals(&w, &info);
    set_loss(&w, &info);
    set_unread_events(&w, rec);
    set_notes(&w, rec, before, absent);
    end(&w, '}');
    bool failed = ferror(w.to) != 0;
    if (fclose(w.to) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
