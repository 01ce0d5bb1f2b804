/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profiles of pprof (github.com/google/pprof, proto/profile.proto). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <contract/wire/budget.h>
#include <pprof.pb-c.h>

#include "internal.h"

/* The most memory for each byte of a message when it is unpacked: an empty sample has two bytes. */
enum { MOST_PER_BYTE = 64 };

/* A column of the samples' values. */
typedef struct column {
    enum profile_type type; /* PROFILE_TYPE_NONE = the column is not used */
    uint64_t factor;        /* from its unit to the type's */
    bool counts;            /* the column has the number of samples */
} column;

/* A function or location, for lookup by id. */
typedef struct numbered {
    uint64_t id;
    size_t index;
} numbered;

typedef struct reader {
    recording *rec;
    const Hotstack__Pprof__Profile *profile;
    column *columns;
    numbered *functions, *locations; /* by id */
    import__frames frames;           /* of a sample */
    size_t sample;                   /* its number */
    recording_error *err;
} reader;

static int no_memory(const reader *r)
{
    return import__fail(r->err, RECORDING_E_NOMEM, 0, "There is no memory left to read it.");
}

/* Reads a string by an untrusted index. Returns false when there is no such string. */
static bool string_at(const reader *r, int64_t index, sagg_str *out)
{
    const Hotstack__Pprof__Profile *p = r->profile;
    *out = (sagg_str){0};
    if (index == 0)
        return true;
    if (index < 0 || (uint64_t)index >= p->n_string_table) {
        (void)import__fail(r->err, RECORDING_E_FORMAT, 0,
                           "the profile names string %" PRId64 " of %zu", index, p->n_string_table);
        return false;
    }
    const ProtobufCBinaryData *bytes = &p->string_table[index];
    *out = (sagg_str){(const char *)bytes->data, bytes->len};
    return true;
}

static bool is(sagg_str text, const char *what)
{
    return text.size == strlen(what) && memcmp(text.data, what, text.size) == 0;
}

/* ---- sample types ---- */

/* Other names of sample types, used by Go, async-profiler's and Grafana's tools. */
static const struct {
    const char *name;
    enum profile_type type;
} aliases[] = {
    {"alloc_space", PROFILE_TYPE_ALLOC_BYTES},
    {"alloc_in_new_tlab_bytes", PROFILE_TYPE_ALLOC_BYTES},
    {"alloc_outside_tlab_bytes", PROFILE_TYPE_ALLOC_BYTES},
    {"alloc_in_new_tlab_objects", PROFILE_TYPE_ALLOC_OBJECTS},
    {"alloc_outside_tlab_objects", PROFILE_TYPE_ALLOC_OBJECTS},
    {"alloc_sample_bytes", PROFILE_TYPE_ALLOC_BYTES},
    {"alloc_sample_objects", PROFILE_TYPE_ALLOC_OBJECTS},
    {"contentions", PROFILE_TYPE_LOCK_COUNT},
    {"delay", PROFILE_TYPE_LOCK_DELAY},
    {"inuse_space", PROFILE_TYPE_LIVE_BYTES},
    {"live", PROFILE_TYPE_LIVE_BYTES},
    {"mutex_contentions", PROFILE_TYPE_LOCK_COUNT},
    {"mutex_delay", PROFILE_TYPE_LOCK_DELAY},
    {"block_contentions", PROFILE_TYPE_LOCK_COUNT},
    {"block_delay", PROFILE_TYPE_LOCK_DELAY},
};

static const struct {
    const char *name;
    const char *of; /* the catalogue's unit */
    uint64_t factor;
} units[] = {
    {"nanoseconds", "ns", 1},        {"ns", "ns", 1},
    {"microseconds", "ns", 1000},    {"us", "ns", 1000},
    {"milliseconds", "ns", 1000000}, {"ms", "ns", 1000000},
    {"seconds", "ns", 1000000000},   {"s", "ns", 1000000000},
    {"bytes", "bytes", 1},           {"count", "count", 1},
};

static enum profile_type type_named(sagg_str name)
{
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        if (is(name, profile_type_get(type)->name))
            return (enum profile_type)type;
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (is(name, aliases[i].name))
            return aliases[i].type;
    return PROFILE_TYPE_NONE;
}

/* Returns 0 when values in the unit cannot be values of the type. */
static uint64_t factor_of(enum profile_type type, sagg_str unit)
{
    const profile_type_info *info = profile_type_get(type);
    for (size_t i = 0; info != NULL && i < sizeof(units) / sizeof(units[0]); i++)
        if (is(unit, units[i].name) && strcmp(units[i].of, info->unit) == 0)
            return units[i].factor;
    return 0;
}

static void leave_out(import_report *report, sagg_str name)
{
    size_t used = strlen(report->left_out);
    size_t room = sizeof(report->left_out) - used;
    if (name.size + 3 > room)
        return;
    memcpy(report->left_out + used, ", ", used > 0 ? 2 : 0);
    used += used > 0 ? 2 : 0;
    if (name.size > 0)
        memcpy(report->left_out + used, name.data, name.size);
    report->left_out[used + name.size] = '\0';
}

static int read_column(reader *r, const Hotstack__Pprof__ValueType *from, column *to,
                       import_report *report)
{
    sagg_str name;
    sagg_str unit;
    if (!string_at(r, from->type_text, &name) || !string_at(r, from->unit_text, &unit))
        return RECORDING_E_FORMAT;
    to->type = type_named(name);
    to->factor = factor_of(to->type, unit);
    to->counts = is(name, "samples") && is(unit, "count");
    if (to->factor == 0) {
        to->type = PROFILE_TYPE_NONE;
        if (!to->counts)
            leave_out(report, name);
    }
    return 0;
}

static int read_columns(reader *r, import_report *report)
{
    const Hotstack__Pprof__Profile *p = r->profile;
    bool known = false;
    r->columns = calloc(p->n_sample_type + 1, sizeof(*r->columns));
    if (r->columns == NULL)
        return no_memory(r);
    for (size_t i = 0; i < p->n_sample_type; i++) {
        int rc = read_column(r, p->sample_type[i], &r->columns[i], report);
        if (rc != 0)
            return rc;
        known = known || r->columns[i].type != PROFILE_TYPE_NONE;
    }
    if (known)
        return 0;
    return import__fail(r->err, RECORDING_E_FORMAT, 0,
                        "the profile has no sample type that is a profile type, but: %s",
                        report->left_out[0] != '\0' ? report->left_out : "none");
}

/* ---- functions and locations ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const numbered *)a)->id;
    uint64_t right = ((const numbered *)b)->id;
    return left < right ? -1 : left > right;
}

static bool index_rows(reader *r)
{
    const Hotstack__Pprof__Profile *p = r->profile;
    r->functions = calloc(p->n_function + 1, sizeof(*r->functions));
    r->locations = calloc(p->n_location + 1, sizeof(*r->locations));
    if (r->functions == NULL || r->locations == NULL)
        return false;
    for (size_t i = 0; i < p->n_function; i++)
        r->functions[i] = (numbered){p->function[i]->id, i};
    for (size_t i = 0; i < p->n_location; i++)
        r->locations[i] = (numbered){p->location[i]->id, i};
    qsort(r->functions, p->n_function, sizeof(*r->functions), by_id);
    qsort(r->locations, p->n_location, sizeof(*r->locations), by_id);
    return true;
}

/* Returns SIZE_MAX, with an error, when there is none. Most profiles number rows from 1. */
static size_t find_row(const reader *r, const numbered *rows, size_t count, uint64_t id,
                       const char *what)
{
    numbered key = {.id = id};
    if (id >= 1 && id <= count && rows[id - 1].id == id)
        return rows[id - 1].index;
    const numbered *found = bsearch(&key, rows, count, sizeof(*rows), by_id);
    if (found != NULL)
        return found->index;
    (void)import__fail(r->err, RECORDING_E_FORMAT, 0,
                       "the profile names %s %" PRIu64 ", which it does not have", what, id);
    return SIZE_MAX;
}

static int add_frame(reader *r, const sagg_frame *frame)
{
    return import__push_frame(&r->frames, frame, "sample", r->sample, r->err);
}

static int add_line(reader *r, const Hotstack__Pprof__Line *line)
{
    const Hotstack__Pprof__Profile *p = r->profile;
    sagg_frame frame;
    sagg_str name;
    sagg_str file;
    size_t at = find_row(r, r->functions, p->n_function, line->function_id, "function");
    if (at == SIZE_MAX || !string_at(r, p->function[at]->name_text, &name) ||
        !string_at(r, p->function[at]->file_text, &file))
        return RECORDING_E_FORMAT;
    import_frame(&frame, name);
    frame.file = file;
    if (line->line > 0 && line->line <= INT32_MAX)
        frame.line = (uint32_t)line->line;
    return add_frame(r, &frame);
}

/* A location without lines is code without a name. */
static int add_location(reader *r, uint64_t id)
{
    static const char unknown[] = "[unknown]";
    static const sagg_frame nameless = {.method = {unknown, sizeof(unknown) - 1},
                                        .kind = SAGG_UNKNOWN};
    const Hotstack__Pprof__Profile *p = r->profile;
    size_t at = find_row(r, r->locations, p->n_location, id, "location");
    if (at == SIZE_MAX)
        return RECORDING_E_FORMAT;
    const Hotstack__Pprof__Location *location = p->location[at];
    int rc = location->n_line == 0 ? add_frame(r, &nameless) : 0;
    for (size_t i = 0; rc == 0 && i < location->n_line; i++)
        rc = add_line(r, location->line[i]);
    return rc;
}

/* ---- samples ---- */

static bool read_labels(reader *r, const Hotstack__Pprof__Sample *from, recording_sample *to)
{
    for (size_t i = 0; i < from->n_label; i++) {
        const Hotstack__Pprof__Label *label = from->label[i];
        sagg_str key;
        sagg_str text;
        if (!string_at(r, label->key_text, &key) || !string_at(r, label->str_text, &text))
            return false;
        if (is(key, "thread") || is(key, "thread_name") || is(key, "threadName"))
            to->thread = text;
        if (is(key, "thread_id") || is(key, "tid"))
            to->os_tid = label->num > 0 ? label->num : 0;
    }
    return true;
}

static int read_values(const reader *r, size_t number, recording_sample *to)
{
    const Hotstack__Pprof__Sample *from = r->profile->sample[number];
    if (from->n_value != r->profile->n_sample_type)
        return import__fail(r->err, RECORDING_E_FORMAT, 0,
                            "sample %zu has %zu values, there are %zu sample types", number,
                            from->n_value, r->profile->n_sample_type);
    for (size_t i = 0; i < from->n_value; i++) {
        const column *c = &r->columns[i];
        uint64_t value = (uint64_t)from->value[i];
        if (from->value[i] < 0)
            return import__fail(r->err, RECORDING_E_FORMAT, 0,
                                "sample %zu has the value %" PRId64
                                ": comparisons cannot be converted",
                                number, from->value[i]);
        if (c->counts && value > 0)
            to->samples = value;
        if (c->type != PROFILE_TYPE_NONE &&
            (__builtin_mul_overflow(value, c->factor, &value) ||
             __builtin_add_overflow(to->values[c->type], value, &to->values[c->type])))
            return import__fail(r->err, RECORDING_E_FORMAT, 0,
                                "sample %zu has a value larger than 2^64 - 1", number);
    }
    return 0;
}

static int read_sample(reader *r, size_t number)
{
    const Hotstack__Pprof__Sample *from = r->profile->sample[number];
    recording_sample to = {.samples = 1, .time_ns = r->profile->time_nanos};
    int rc = read_values(r, number, &to);
    if (rc == 0 && !read_labels(r, from, &to))
        rc = RECORDING_E_FORMAT;
    r->sample = number;
    r->frames.count = 0;
    for (size_t i = 0; rc == 0 && i < from->n_location_id; i++)
        rc = add_location(r, from->location_id[i]);
    to.frames = r->frames.at;
    to.count = r->frames.count;
    return rc == 0 ? recording_add_sample(r->rec, &to, r->err) : rc;
}

static void read_span(const reader *r)
{
    int64_t start = r->profile->time_nanos;
    int64_t length = r->profile->duration_nanos;
    int64_t end;
    if (start > 0 && length >= 0 && !__builtin_add_overflow(start, length, &end))
        recording_add_span(r->rec, start, end);
}

static int read_profile(reader *r, import_report *report)
{
    int rc = read_columns(r, report);
    if (rc == 0 && !index_rows(r))
        rc = no_memory(r);
    if (rc == 0)
        read_span(r);
    for (size_t i = 0; rc == 0 && i < r->profile->n_sample; i++)
        rc = read_sample(r, i);
    free(r->columns);
    free(r->functions);
    free(r->locations);
    free(r->frames.at);
    return rc;
}

/* ---- the message ---- */

static int read_message(recording *rec, const void *data, size_t size, uint64_t max_memory,
                        import_report *report, recording_error *err)
{
    budget memory;
    uint64_t most = (uint64_t)size * MOST_PER_BYTE + 65536;
    budget_init(&memory, (size_t)(most < max_memory ? most : max_memory));
    Hotstack__Pprof__Profile *profile =
        hotstack__pprof__profile__unpack(&memory.allocator, size, data);
    if (profile == NULL && memory.exceeded)
        return import__fail(err, RECORDING_E_LIMIT, 0,
                            "the profile takes more memory than the limit, %" PRIu64 " bytes",
                            most < max_memory ? most : max_memory);
    reader r = {.rec = rec, .profile = profile, .err = err};
    if (profile == NULL && memory.no_memory)
        return no_memory(&r);
    if (profile == NULL)
        return import__fail(err, RECORDING_E_FORMAT, 0, "it is no JFR recording and no profile");
    int rc = read_profile(&r, report);
    hotstack__pprof__profile__free_unpacked(profile, &memory.allocator);
    return rc;
}

int import_pprof(recording *rec, const void *data, size_t bytes, const import_options *options,
                 import_report *report, recording_error *err)
{
    import_options o;
    import_report unread = {0};
    void *plain = NULL;
    size_t plain_size = 0;
    int rc = import__options(&o, options, err);
    if (rc != 0)
        return rc;
    report = report != NULL ? report : &unread;
    *report = (import_report){0};
    if (!import__is_gzip(data, bytes))
        return read_message(rec, data, bytes, o.max_memory, report, err);
    rc = import__gunzip(&plain, &plain_size, data, bytes, o.max_unpacked_bytes, err);
    if (rc == 0)
        rc = read_message(rec, plain, plain_size, o.max_memory, report, err);
    free(plain);
    return rc;
}
