/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int recording__fail(recording_error *err, int code, uint64_t offset, const char *message)
{
    if (err == NULL)
        return code;
    err->code = code;
    err->offset = offset;
    (void)snprintf(err->message, sizeof(err->message), "%s", message);
    return code;
}

int recording__from_jfr(recording_error *err, const jfr_error *cause)
{
    static const int codes[] = {[-JFR_ERR_IO] = RECORDING_E_IO,
                                [-JFR_ERR_FORMAT] = RECORDING_E_FORMAT,
                                [-JFR_ERR_LIMIT] = RECORDING_E_LIMIT,
                                [-JFR_ERR_USAGE] = RECORDING_E_USAGE,
                                [-JFR_ERR_NOMEM] = RECORDING_E_NOMEM};
    return recording__fail(err, codes[-cause->code], cause->offset, cause->message);
}

static int from_sagg(recording_error *err, const sagg_error *cause)
{
    /* The classes have the same numbers. */
    return recording__fail(err, cause->code, cause->offset, cause->message);
}

static int read_options(recording_options *out, const recording_options *given,
                        recording_error *err)
{
    *out = (recording_options)RECORDING_OPTIONS_INIT;
    if (given == NULL)
        return 0;
    memcpy(out, given, given->size < sizeof(*out) ? given->size : sizeof(*out));
    for (size_t i = sizeof(*out); i < given->size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return recording__fail(err, RECORDING_E_USAGE, 0,
                                   "The options of recording_new have unknown fields set.");
    return 0;
}

/* The aggregate's table of types is the catalogue. */
static int make_aggregate(const recording *rec, sagg **out, uint64_t max_bytes, sagg_error *cause)
{
    const recording_options *o = &rec->options;
    sagg_type types[PROFILE_TYPE_END];
    size_t count = 0;
    for (unsigned number = 1; number < PROFILE_TYPE_END; number++) {
        const profile_type_info *info = profile_type_get(number);
        if (info != NULL)
            types[count++] = (sagg_type){number, info->name, info->unit};
    }
    sagg_options options = {.size = sizeof(options),
                            .types = types,
                            .type_count = count,
                            .normaliser = o->normaliser,
                            .group = o->group,
                            .max_stacks = o->max_stacks,
                            .max_threads = o->max_threads,
                            .max_frames = o->max_frames,
                            .max_bytes = max_bytes,
                            .origin_ns = o->origin_ns,
                            .seconds = o->seconds};
    return sagg_new(out, &options, cause);
}

int recording__new_aggregate(const recording *rec, sagg **out, uint64_t max_bytes)
{
    return make_aggregate(rec, out, max_bytes, NULL);
}

static int new_aggregate(recording *rec, recording_error *err)
{
    sagg_error cause;
    int rc = make_aggregate(rec, &rec->agg, rec->options.max_bytes, &cause);
    return rc == 0 ? 0 : from_sagg(err, &cause);
}

uint32_t recording__max_stacks(const recording *rec)
{
    return rec->options.max_stacks != 0 ? rec->options.max_stacks : RECORDING_MAX_STACKS;
}

uint32_t recording__max_frames(const recording *rec)
{
    return rec->options.max_frames != 0 ? rec->options.max_frames : RECORDING_MAX_FRAMES;
}

uint64_t recording__max_bytes(const recording *rec)
{
    return rec->options.max_bytes != 0 ? rec->options.max_bytes : RECORDING_MAX_BYTES;
}

int recording__reserve(uint32_t **numbers, size_t *room, size_t count)
{
    if (count <= *room)
        return 0;
    size_t more = count < 256 ? 256 : count * 2;
    uint32_t *grown = realloc(*numbers, more * sizeof(*grown));
    if (grown == NULL)
        return SAGG_ERR_NOMEM;
    *numbers = grown;
    *room = more;
    return 0;
}

int recording_new(recording **out, const recording_options *options, recording_error *err)
{
    recording *rec = calloc(1, sizeof(*rec));
    if (rec == NULL)
        return recording__fail(err, RECORDING_E_NOMEM, 0, "There is no memory for a recording.");
    int rc = read_options(&rec->options, options, err);
    if (rc == 0)
        rc = new_aggregate(rec, err);
    if (rc == 0 && rec->options.threads > RECORDING_MAX_THREADS)
        rc = recording__fail(err, RECORDING_E_USAGE, 0,
                             "Option threads of recording_new is too large.");
    if (rc != 0) {
        recording_free(rec);
        return rc;
    }
    rec->inherited = (jfr_intervals)JFR_INTERVALS_INIT;
    if (rec->options.inherit != NULL)
        memcpy(&rec->inherited, rec->options.inherit,
               rec->options.inherit->size < sizeof(rec->inherited) ? rec->options.inherit->size
                                                                   : sizeof(rec->inherited));
    rec->inherited.size = sizeof(rec->inherited);
    rec->options.inherit = NULL; /* the caller's memory */
    rec->info.intervals = rec->inherited;
    *out = rec;
    return 0;
}

void recording_free(recording *rec)
{
    if (rec == NULL)
        return;
    sagg_free(rec->agg);
    free(rec->frames);
    free(rec);
}

static int report_progress(const recording *rec, const jfr_chunk *chunk, recording_error *err)
{
    const recording_tap *tap = &rec->options.tap;
    const jfr_chunk_info *info = jfr_chunk_get_info(chunk);
    if (tap->progress == NULL || tap->progress(tap->ctx, info->offset + info->size) == 0)
        return 0;
    return recording__fail(err, RECORDING_E_STOPPED, info->offset + info->size,
                           "Reading was stopped by who asked for it.");
}

/* A chunk that is added while the next chunks are read. */
typedef struct adding {
    recording *rec;
    jfr_chunk *chunk;
    jfr_sums *sums; /* NULL = samples are read one by one */
    recording_error *err;
    int rc;
} adding;

enum { ADD, READ_AHEAD, STEPS };

/* jfr_work */
static void add_or_read(void *ctx, uint32_t step)
{
    adding *a = ctx;
    if (step == ADD) {
        a->rc = recording__add_chunk(a->rec, a->chunk, a->sums, a->err);
        return;
    }
    int rc = jfr_sums_read_ahead(a->sums, NULL);
    (void)rc; /* jfr_sums_next reads the chunks that could not be read ahead */
}

static int add_chunks(recording *rec, jfr_file *file, jfr_sums *sums, recording_error *err)
{
    adding a = {.rec = rec, .sums = sums, .err = err};
    bool ahead = sums != NULL && rec->options.threads > 1;
    jfr_error cause;
    int rc;
    while ((rc = sums != NULL ? jfr_sums_next(sums, &a.chunk, &cause)
                              : jfr_next_chunk(file, &a.chunk, &cause)) == 1) {
        recording__parallel_for(NULL, ahead ? STEPS : 1, add_or_read, &a);
        rc = a.rc == 0 ? report_progress(rec, a.chunk, err) : a.rc;
        if (rc != 0)
            return rc;
    }
    return rc < 0 ? recording__from_jfr(err, &cause) : 0;
}

/* A tap needs each sample. Without a tap the library adds samples up, which is many times faster.
 */
static int open_sums(const recording *rec, jfr_file *file, jfr_sums **out, recording_error *err)
{
    const recording_options *o = &rec->options;
    jfr_sums_options options = JFR_SUMS_OPTIONS_INIT;
    jfr_error cause;
    *out = NULL;
    if (o->tap.keep != NULL || o->tap.added != NULL)
        return 0;
    options.flags = o->objects ? JFR_SUMS_CLASSES : 0;
    options.flags |= o->no_threads ? JFR_SUMS_NO_THREADS : 0;
    options.flags |= o->no_alloc_objects ? JFR_SUMS_NO_ALLOC_OBJECTS : 0;
    options.threads = o->threads;
    options.parallel_for = recording__parallel_for;
    options.origin_ns = o->origin_ns;
    options.seconds = o->seconds;
    return jfr_sums_open(out, file, &options, &cause) < 0 ? recording__from_jfr(err, &cause) : 0;
}

static jfr_options reader_options(const recording *rec)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = rec->options.walk_unfinished ? JFR_WALK_UNFINISHED : 0;
    options.max_unpacked_bytes = rec->options.max_unpacked_bytes;
    options.inherit = &rec->info.intervals;
    return options;
}

static int tell_begin(const recording *rec, const jfr_file *file, recording_error *err)
{
    const recording_tap *tap = &rec->options.tap;
    jfr_span span;
    jfr_error cause;
    if (tap->begin == NULL)
        return 0;
    if (jfr_file_span(file, &span, &cause) < 0)
        return recording__from_jfr(err, &cause);
    tap->begin(tap->ctx, span.start_ns, span.end_ns);
    return 0;
}

static int add_file(recording *rec, jfr_file *file, recording_error *err)
{
    jfr_sums *sums = NULL;
    int rc = tell_begin(rec, file, err);
    if (rc == 0)
        rc = open_sums(rec, file, &sums, err);
    if (rc == 0)
        rc = add_chunks(rec, file, sums, err);
    jfr_sums_close(sums);
    recording__take_loss(rec, file);
    jfr_close(file);
    return rc;
}

int recording_add_mem(recording *rec, const void *data, size_t bytes, recording_error *err)
{
    jfr_options options = reader_options(rec);
    jfr_file *file;
    jfr_error cause;
    if (jfr_open_mem(&file, data, bytes, &options, &cause) < 0)
        return recording__from_jfr(err, &cause);
    return add_file(rec, file, err);
}

int recording_add_file(recording *rec, const char *path, recording_error *err)
{
    jfr_options options = reader_options(rec);
    jfr_file *file;
    jfr_error cause;
    if (jfr_open_file(&file, path, &options, &cause) < 0)
        return recording__from_jfr(err, &cause);
    return add_file(rec, file, err);
}

const sagg *recording_aggregate(recording *rec)
{
    return sagg_compact(rec->agg, NULL) == 0 ? rec->agg : NULL;
}

void recording_get_info(const recording *rec, recording_info *out)
{
    *out = rec->info;
}
