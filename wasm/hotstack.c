/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the WebAssembly module: they read a JFR recording from memory and return flame
 * graph documents. hotstack.mjs wraps them for pages.
 *
 * The host calls _initialize once. It passes bytes to the module in memory that it got from malloc,
 * and frees that memory when the call has returned. Text that a function returns is NUL-terminated
 * UTF-8.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recording/meta.h>
#include <recording/recording.h>

#define EXPORT(name) __attribute__((export_name(#name)))

/* Memory for stacks; a 32-bit module has at most 4 GiB, and the recording needs a part of them. */
#define MAX_BYTES  (UINT64_C(1) << 30)
#define MAX_STACKS 2000000u /* as in `hotstack convert` */

/* A recording that was read, and the text that a function returned last. */
typedef struct hotstack {
    recording *rec;
    const sagg *agg;
    char *title;
    char *text;
    size_t size, room;
} hotstack;

static char last_error[512];

/* Returns why the last failed call failed, as one sentence. The text stays until another call
 * fails. */
EXPORT(hotstack_error) const char *hotstack_error(void);
/*
 * Reads a recording as `hotstack convert` does: whole, cut or damaged. Recordings packed with gzip
 * are refused, because the page unpacks them. `data` (`bytes` long) is not needed afterwards.
 * `title` is the file's name for documents and messages. Returns the handle for hotstack_close, or
 * NULL (hotstack_error) when nothing usable can be read.
 */
EXPORT(hotstack_open) hotstack *hotstack_open(const void *data, size_t bytes, const char *title);
/*
 * Returns a summary of the recording as JSON text: {"types": [...], "whole": ..., "meta": {...}}.
 *
 * `types` has a row {"type", "unit", "value", "raw_value", "samples"} for each profile type with
 * samples; the values are decimal strings, so that readers keep all 64 bits. `whole` is true when
 * nothing of the recording is missing. `meta` is that of a flame graph document
 * (docs/formats/flamegraph-json.md): the losses, the samples that are in no profile, and the
 * recorder.
 *
 * The text is borrowed until the next call with `h`; NULL (hotstack_error) without memory.
 */
EXPORT(hotstack_summary) const char *hotstack_summary(hotstack *h);
/*
 * Returns the flame graph of the summary's type number `index`, as flame graph JSON with one
 * profile (docs/formats/flamegraph-json.md): the `max_nodes` heaviest nodes, 0 = all. The text is
 * borrowed until the next call with `h`; NULL (hotstack_error) when there is no such type or no
 * memory.
 */
EXPORT(hotstack_document)
const char *hotstack_document(hotstack *h, size_t index, uint32_t max_nodes);
/* Frees the recording; NULL is allowed. */
EXPORT(hotstack_close) void hotstack_close(hotstack *h);

const char *hotstack_error(void)
{
    return last_error;
}

static void fail(const char *title, const char *message)
{
    (void)snprintf(last_error, sizeof(last_error), "%s: %s", title, message);
}

static void fail_memory(const char *title)
{
    fail(title, "there is no memory left in the browser for this recording");
}

/* ---- reading ---- */

static bool read_recording(hotstack *h, const void *data, size_t bytes)
{
    recording_options options = RECORDING_OPTIONS_INIT;
    recording_error err;
    options.group = SAGG_BY_NONE;
    options.no_threads = true;
    options.walk_unfinished = true;
    options.max_stacks = MAX_STACKS;
    options.max_bytes = MAX_BYTES;
    int rc = recording_new(&h->rec, &options, &err);
    if (rc == 0)
        rc = recording_add_mem(h->rec, data, bytes, &err);
    if (rc == RECORDING_E_FORMAT)
        (void)snprintf(last_error, sizeof(last_error), "%s at byte %" PRIu64 ": %s", h->title,
                       err.offset, err.message);
    else if (rc != 0)
        fail(h->title, err.message);
    if (rc != 0)
        return false;
    h->agg = recording_aggregate(h->rec);
    if (h->agg != NULL && recording_name_events(h->rec) == 0)
        return true;
    fail_memory(h->title);
    return false;
}

hotstack *hotstack_open(const void *data, size_t bytes, const char *title)
{
    hotstack *h = calloc(1, sizeof(*h));
    if (h == NULL || (h->title = strdup(title)) == NULL)
        fail_memory(title);
    else if (read_recording(h, data, bytes))
        return h;
    hotstack_close(h);
    return NULL;
}

void hotstack_close(hotstack *h)
{
    if (h == NULL)
        return;
    recording_free(h->rec);
    free(h->title);
    free(h->text);
    free(h);
}

/* ---- text ---- */

/* A sagg_sink.write that appends to the text, which stays NUL-terminated. */
static int append(void *ctx, const void *data, size_t bytes)
{
    hotstack *h = ctx;
    if (h->room - h->size <= bytes) {
        size_t room = (h->size + bytes) * 2 + 1;
        char *grown = realloc(h->text, room);
        if (grown == NULL)
            return -1;
        h->text = grown;
        h->room = room;
    }
    memcpy(h->text + h->size, data, bytes);
    h->size += bytes;
    h->text[h->size] = '\0';
    return 0;
}

static bool append_text(hotstack *h, const char *text)
{
    return append(h, text, strlen(text)) == 0;
}

/* Returns the catalogue's number of the `index`th type that has samples; 0 = none. */
static unsigned find_type(const hotstack *h, size_t index)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (sagg_type_totals(h->agg, type).samples > 0 && index-- == 0)
            return type;
    return 0;
}

static bool append_type(hotstack *h, size_t index, unsigned type)
{
    char line[320];
    sagg_totals totals = sagg_type_totals(h->agg, type);
    (void)snprintf(line, sizeof(line),
                   "%s{\"type\":\"%s\",\"unit\":\"%s\",\"value\":\"%" PRIu64
                   "\",\"raw_value\":\"%" PRIu64 "\",\"samples\":%" PRIu64 "}",
                   index > 0 ? "," : "", recording_type_name(h->agg, type),
                   profile_type_get(type)->unit, totals.value, totals.raw_value, totals.samples);
    return append_text(h, line);
}

static bool append_summary(hotstack *h, const char *meta)
{
    bool done = append_text(h, "{\"types\":[");
    for (size_t i = 0; done && find_type(h, i) != 0; i++)
        done = append_type(h, i, find_type(h, i));
    return done &&
           append_text(h, recording_is_whole(h->rec) ? "],\"whole\":true,\"meta\":"
                                                     : "],\"whole\":false,\"meta\":") &&
           append_text(h, meta) && append_text(h, "}");
}

const char *hotstack_summary(hotstack *h)
{
    char *meta = recording_meta(h->rec, NULL, h->title, "");
    h->size = 0;
    bool done = meta != NULL && append_summary(h, meta);
    free(meta);
    if (!done)
        fail_memory(h->title);
    return done ? h->text : NULL;
}

static bool append_document(hotstack *h, const sagg_tree *tree, sagg_error *err)
{
    char *meta = recording_meta(h->rec, NULL, h->title, "");
    sagg_sink sink = {append, h};
    h->size = 0;
    int rc = meta != NULL ? sagg_write_json(&tree, 1, (sagg_str){meta, strlen(meta)}, &sink, err)
                          : SAGG_ERR_NOMEM;
    free(meta);
    return rc == 0;
}

const char *hotstack_document(hotstack *h, size_t index, uint32_t max_nodes)
{
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *tree = NULL;
    sagg_error err;
    options.type = find_type(h, index);
    options.max_nodes = max_nodes;
    if (options.type == 0) {
        fail(h->title, "there is no profile of that number in the recording");
        return NULL;
    }
    int rc = sagg_tree_new(&tree, h->agg, &options, &err);
    bool done = rc == 0 && append_document(h, tree, &err);
    sagg_tree_free(tree);
    if (!done)
        fail_memory(h->title);
    return done ? h->text : NULL;
}
