/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/meta.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

/* Text of a recording or a file name: a damaged one is left out rather than failing the document.
 */
static void set_text(json_t *object, const char *key, const char *text)
{
    if (text[0] != '\0')
        (void)json_object_set_new(object, key, json_string(text));
}

static void set_number(json_t *object, const char *key, int64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    set_text(object, key, text);
}

static json_t *intervals(const recording_info *info)
{
    json_t *object = json_object();
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const profile_type_info *row = profile_type_get(type);
        if (row != NULL && info->interval[type] != 0)
            set_number(object, row->name, (int64_t)info->interval[type]);
    }
    return object;
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    if (count > 0)
        (void)json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *loss(const recording_info *info)
{
    json_t *object = json_object();
    set_count(object, "chunks_lost", info->chunks_lost);
    set_count(object, "chunks_partial", info->chunks_partial);
    set_count(object, "bytes_lost", info->bytes_lost);
    set_count(object, "recorder_samples", info->recorder_samples);
    set_count(object, "recorder_bytes", info->recorder_bytes);
    set_count(object, "recorder_events", info->recorder_events);
    set_count(object, "bad_events", info->counts.bad_events);
    set_count(object, "bad_stacks", info->counts.bad_stacks);
    set_count(object, "stackless_samples", info->counts.stackless_samples);
    set_count(object, "unmeasured_events", info->counts.unmeasured_events);
    return object;
}

static void add_note(json_t *list, const char *side, const char *line)
{
    (void)json_array_append_new(list, json_sprintf("%s%s", side, line));
}

static void add_count(json_t *list, const char *side, uint64_t count, const char *what)
{
    if (count > 0)
        (void)json_array_append_new(list, json_sprintf("%s%" PRIu64 " %s", side, count, what));
}

/* `side` stands before each. */
static void add_notes(json_t *list, const char *side, const recording *rec)
{
    char line[256];
    recording_info info;
    recording_get_info(rec, &info);
    for (size_t i = 0; recording_loss_line(rec, i, line, sizeof(line)); i++)
        add_note(list, side, line);
    for (size_t i = 0; recording_left_out_line(rec, i, line, sizeof(line)); i++)
        add_note(list, side, line);
    if (recording_cut_stacks_line(rec, line, sizeof(line)))
        add_note(list, side, line);
    add_count(list, side, info.recorder_samples, "cpu samples were lost by the recorder itself");
    add_count(list, side, info.recorder_bytes, "bytes of events were lost by the recorder itself");
    add_count(list, side, info.recorder_events, "events were dropped by the recorder itself");
}

static json_t *notes(const recording *rec, const recording *before)
{
    json_t *list = json_array();
    if (before != NULL)
        add_notes(list, "before: ", before);
    add_notes(list, before != NULL ? "after: " : "", rec);
    return list;
}

static json_t *unread_events(const recording *rec)
{
    const recording_unread *rows;
    size_t count = recording_unread_events(rec, &rows);
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        set_count(object, rows[i].event, rows[i].count);
    return object;
}

char *meta_json(const recording *rec, const recording *before, const char *title,
                const char *absent)
{
    recording_info info;
    recording_get_info(rec, &info);
    json_t *meta = json_object();
    set_text(meta, "title", title);
    set_text(meta, "generator", "hotstack " HOTSTACK_VERSION);
    set_text(meta, "engine", info.engine);
    set_text(meta, "java_args", info.java_args);
    set_text(meta, "jvm_version", info.jvm_version);
    set_number(meta, "start_ns", info.start_ns);
    set_number(meta, "end_ns", info.end_ns);
    (void)json_object_set_new(meta, "intervals", intervals(&info));
    (void)json_object_set_new(meta, "loss", loss(&info));
    (void)json_object_set_new(meta, "unread_events", unread_events(rec));
    json_t *list = notes(rec, before);
    if (absent[0] != '\0')
        (void)json_array_append_new(list, json_sprintf("not recorded: %s", absent));
    (void)json_object_set_new(meta, "notes", list);
    char *text = json_dumps(meta, JSON_COMPACT);
    json_decref(meta);
    return text;
}
