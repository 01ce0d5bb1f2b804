/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stackagg/stackagg.h>
#include <xxhash.h>

#include "ingest.pb-c.h"

enum { WINDOWS = 3, POOLS = 8, DEPTH = 12, WINDOW_MS = 10000, STRINGS_MAX = 64 };

static const uint32_t window_types[WINDOWS] = {1, 2, 5}; /* cpu, alloc_bytes, lock_delay */

/* A string table that is filled one string after the other. */
typedef struct strings {
    char data[8192];
    size_t used;
    uint32_t length[STRINGS_MAX];
    size_t count;
    Hotstack__V1__StringTable message;
} strings;

static uint32_t add_string(strings *s, const char *value)
{
    size_t length = strlen(value);

    memcpy(s->data + s->used, value, length);
    s->used += length;
    s->length[s->count] = (uint32_t)length;
    return (uint32_t)s->count++;
}

static Hotstack__V1__StringTable *strings_message(strings *s)
{
    hotstack__v1__string_table__init(&s->message);
    s->message.data = (ProtobufCBinaryData){s->used, (uint8_t *)s->data};
    s->message.length = s->length;
    s->message.n_length = s->count;
    return &s->message;
}

/* Everything that a body points into. */
typedef struct maker {
    const batch_options *options;
    strings strings;
    Hotstack__V1__Collector collector;
    Hotstack__V1__TargetColumns targets;
    Hotstack__V1__WindowColumns windows;
    Hotstack__V1__SampleColumns samples;
    Hotstack__V1__SecondColumns seconds;
    Hotstack__V1__ThreadColumns threads;
    uint32_t u32[21][WINDOWS];
    uint64_t u64[12][WINDOWS];
    uint32_t *rows32[5];
    uint64_t *rows64[3];
    uint8_t *stack_ids;
    char instance[32];
    uint64_t value_total;
} maker;

/* ---- stacks: frame f of stack i is method (i + f) of one of a few classes ---- */

static void stack_frames(sagg_frame frames[DEPTH], char names[DEPTH][48], uint32_t stack)
{
    for (uint32_t f = 0; f < DEPTH; f++) {
        snprintf(names[f], sizeof(names[f]), "method%u", f == 0 ? stack : f);
        frames[f] = (sagg_frame){.class_name = {"com.acme.shop.Cart", 18},
                                 .method = {names[f], strlen(names[f])},
                                 .file = {"Cart.java", 9},
                                 .line = 10 + f,
                                 .kind = SAGG_JAVA};
    }
}

static void stack_id(uint8_t *out, uint32_t stack)
{
    char names[DEPTH][48];
    sagg_frame frames[DEPTH];
    sagg_stack_id id;

    stack_frames(frames, names, stack);
    if (sagg_stack_id_of(&id, frames, DEPTH, SAGG_NORMALISE_V1, NULL) != 0)
        abort();
    memcpy(out, id.bytes, 16);
}

/* ---- the body ---- */

static void make_collector(maker *m)
{
    hotstack__v1__collector__init(&m->collector);
    snprintf(m->instance, sizeof(m->instance), "instance-%llu",
             (unsigned long long)(m->options->seed % 7));
    m->collector.cluster = (char *)(uintptr_t)m->options->cluster;
    m->collector.node = m->instance;
    m->collector.instance = m->instance;
    m->collector.version = m->instance;
    m->collector.run_id = 1;
}

static void make_target(maker *m)
{
    Hotstack__V1__TargetColumns *t = &m->targets;
    uint32_t empty = 0, service = add_string(&m->strings, "cart"),
             workload = add_string(&m->strings, m->options->workload);
    uint32_t boot = add_string(&m->strings, "01234567-89ab-cdef-0123-456789abcdef");
    uint32_t jvm = add_string(&m->strings, "21.0.8+9-LTS");
    const struct {
        uint32_t **column;
        size_t *count;
        uint32_t value;
    } u32[] = {
        {&t->namespace_str, &t->n_namespace_str, empty},
        {&t->workload_kind_str, &t->n_workload_kind_str, empty},
        {&t->workload_str, &t->n_workload_str, workload},
        {&t->pod_str, &t->n_pod_str, empty},
        {&t->container_str, &t->n_container_str, empty},
        {&t->pod_uid_str, &t->n_pod_uid_str, empty},
        {&t->container_id_str, &t->n_container_id_str, empty},
        {&t->boot_id_str, &t->n_boot_id_str, boot},
        {&t->host_pid, &t->n_host_pid, 4711},
        {&t->ns_pid, &t->n_ns_pid, 1},
        {&t->jvm_version_str, &t->n_jvm_version_str, jvm},
        {&t->jvm_vendor_str, &t->n_jvm_vendor_str, empty},
        {&t->main_class_str, &t->n_main_class_str, empty},
        {&t->app_version_str, &t->n_app_version_str, empty},
        {&t->image_str, &t->n_image_str, empty},
        {&t->service_str, &t->n_service_str, service},
    };

    hotstack__v1__target_columns__init(t);
    for (size_t i = 0; i < sizeof(u32) / sizeof(u32[0]); i++) {
        m->u32[i][0] = u32[i].value;
        *u32[i].column = m->u32[i];
        *u32[i].count = 1;
    }
    m->u64[0][0] = m->options->seed % 5;
    m->u64[1][0] = m->options->start_ms - 60000;
    t->start_ticks = m->u64[0];
    t->start_ms = m->u64[1];
    t->n_start_ticks = t->n_start_ms = 1;
}

static uint64_t row_value(const maker *m, uint32_t row)
{
    return 1000 + (m->options->seed + row) % 977 + (m->options->other_body ? 1 : 0);
}

static void make_samples(maker *m)
{
    Hotstack__V1__SampleColumns *s = &m->samples;
    size_t count = (size_t)WINDOWS * m->options->rows;
    uint32_t pools[POOLS], object = add_string(&m->strings, "java.lang.String");
    char name[32];

    for (uint32_t i = 0; i < POOLS; i++) {
        snprintf(name, sizeof(name), "pool-%u-#", i);
        pools[i] = add_string(&m->strings, name);
    }
    for (size_t i = 0; i < 5; i++)
        m->rows32[i] = malloc((count + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < 3; i++)
        m->rows64[i] = malloc((count + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = i % m->options->rows;
        m->rows32[0][i] = i / m->options->rows;
        m->rows32[1][i] = pools[row / m->options->stacks % POOLS];
        m->rows32[2][i] = row % m->options->stacks;
        m->rows32[3][i] = 0;
        m->rows32[4][i] = object;
        m->rows64[0][i] = row_value(m, row);
        m->rows64[1][i] = 2 * row_value(m, row);
        m->rows64[2][i] = 1;
        m->value_total += 2 * row_value(m, row);
    }
    hotstack__v1__sample_columns__init(s);
    s->window = m->rows32[0];
    s->pool_str = m->rows32[1];
    s->stack = m->rows32[2];
    s->facet = m->rows32[3];
    s->object_str = m->rows32[4];
    s->raw_value = m->rows64[0];
    s->value = m->rows64[1];
    s->samples = m->rows64[2];
    s->n_window = s->n_pool_str = s->n_stack = s->n_facet = s->n_object_str = count;
    s->n_raw_value = s->n_value = s->n_samples = count;
}

static void make_windows(maker *m)
{
    Hotstack__V1__WindowColumns *w = &m->windows;
    uint32_t engine = add_string(&m->strings, "ctimer");

    hotstack__v1__window_columns__init(w);
    w->target = m->u32[16];
    w->type = m->u32[17];
    w->length_ms = m->u32[18];
    w->covered_ms = m->u32[19];
    w->engine_str = m->u32[20];
    w->start_ms = m->u64[2];
    w->interval = m->u64[3];
    w->samples = m->u64[4];
    w->raw_total = m->u64[5];
    w->value_total = m->u64[6];
    w->truncated_raw = w->dropped_raw = w->dropped_stacks = w->lost_events = m->u64[7];
    for (uint32_t i = 0; i < WINDOWS; i++) {
        w->type[i] = window_types[i];
        w->length_ms[i] = w->covered_ms[i] = WINDOW_MS;
        w->engine_str[i] = engine;
        w->start_ms[i] = m->options->start_ms;
        w->interval[i] = 10000000;
        for (uint32_t row = 0; row < m->options->rows; row++) {
            w->samples[i]++;
            w->raw_total[i] += row_value(m, row);
            w->value_total[i] += 2 * row_value(m, row);
        }
    }
    w->raw_total[1] += m->options->wrong_totals ? 1 : 0;
    w->n_target = w->n_type = w->n_start_ms = w->n_length_ms = w->n_covered_ms = WINDOWS;
    w->n_engine_str = w->n_interval = w->n_samples = w->n_raw_total = WINDOWS;
    w->n_value_total = w->n_truncated_raw = w->n_dropped_raw = WINDOWS;
    w->n_dropped_stacks = w->n_lost_events = WINDOWS;
}

static void make_seconds_and_threads(maker *m)
{
    Hotstack__V1__SecondColumns *s = &m->seconds;
    Hotstack__V1__ThreadColumns *t = &m->threads;

    hotstack__v1__second_columns__init(s);
    hotstack__v1__thread_columns__init(t);
    m->u64[8][0] = m->windows.value_total[0];
    m->u64[9][0] = m->windows.raw_total[0];
    s->window = t->window = m->u32[16]; /* three zeros: the first window */
    s->pool_str = t->pool_str = t->name_str = m->u32[20];
    s->second = m->u32[16];
    s->value = t->value = m->u64[8];
    t->raw_value = m->u64[9];
    t->os_tid = t->java_tid = m->u64[7];
    t->samples = m->windows.samples;
    s->n_window = s->n_pool_str = s->n_second = s->n_value = 1;
    t->n_window = t->n_os_tid = t->n_java_tid = t->n_name_str = t->n_pool_str = 1;
    t->n_raw_value = t->n_value = t->n_samples = 1;
}

static uint8_t *make_body(maker *m, size_t *length)
{
    Hotstack__V1__ProfileBody body = HOTSTACK__V1__PROFILE_BODY__INIT;

    add_string(&m->strings, "");
    make_collector(m);
    make_target(m);
    make_samples(m);
    make_windows(m);
    make_seconds_and_threads(m);
    m->stack_ids = malloc((size_t)m->options->stacks * 16 + 1);
    for (uint32_t i = 0; i < m->options->stacks; i++)
        stack_id(m->stack_ids + (size_t)i * 16, i);
    body.contract = m->options->contract;
    body.collector = &m->collector;
    body.day = (uint32_t)(m->options->start_ms / 86400000);
    body.created_ms = m->options->start_ms + WINDOW_MS;
    body.strings = strings_message(&m->strings);
    body.targets = &m->targets;
    body.windows = &m->windows;
    body.samples = &m->samples;
    body.seconds = &m->seconds;
    body.threads = &m->threads;
    body.stack_ids = (ProtobufCBinaryData){(size_t)m->options->stacks * 16, m->stack_ids};
    uint8_t *out = malloc(hotstack__v1__profile_body__get_packed_size(&body) + 1);
    *length = hotstack__v1__profile_body__pack(&body, out);
    return out;
}

/* ---- the dictionary: frames 0..n-1 are the stacks' leaves, then the shared callers ---- */

typedef struct dictionary {
    Hotstack__V1__StackDictionary message;
    Hotstack__V1__StringTable strings;
    char *data;
    uint32_t *lengths, *columns[6], *stack_frame, *depth;
    uint8_t *kinds, *versions;
} dictionary;

static void fill_strings(dictionary *d, uint32_t methods)
{
    size_t used = 0;
    const char *fixed[] = {"", "com.acme.shop.Cart", "Cart.java"};

    d->data = malloc(64 + (size_t)methods * 20);
    d->lengths = malloc((methods + 3) * sizeof(uint32_t));
    for (uint32_t i = 0; i < methods + 3; i++) {
        char name[48];
        snprintf(name, sizeof(name), "method%u", i - 3);
        const char *value = i < 3 ? fixed[i] : name;
        d->lengths[i] = (uint32_t)strlen(value);
        memcpy(d->data + used, value, d->lengths[i]);
        used += d->lengths[i];
    }
    hotstack__v1__string_table__init(&d->strings);
    d->strings.data = (ProtobufCBinaryData){used, (uint8_t *)d->data};
    d->strings.length = d->lengths;
    d->strings.n_length = methods + 3;
}

static void fill_frames(dictionary *d, uint32_t stacks, uint32_t frames)
{
    for (size_t i = 0; i < 4; i++)
        d->columns[i] = malloc(frames * sizeof(uint32_t));
    d->kinds = calloc(frames, 1);
    for (uint32_t i = 0; i < frames; i++) {
        uint32_t method = i < stacks ? i : i - stacks + 1;
        d->columns[0][i] = 1;
        d->columns[1][i] = 3 + method;
        d->columns[2][i] = 2;
        d->columns[3][i] = i < stacks ? 10 : 10 + method;
    }
}

static void dictionary_make(dictionary *d, const batch_options *o, uint8_t *stack_ids)
{
    uint32_t frames = o->stacks + DEPTH - 1;
    uint32_t methods = o->stacks > DEPTH ? o->stacks : DEPTH;
    Hotstack__V1__StackDictionary *m = &d->message;

    hotstack__v1__stack_dictionary__init(m);
    fill_strings(d, methods);
    fill_frames(d, o->stacks, frames);
    d->stack_frame = malloc((size_t)o->stacks * DEPTH * sizeof(uint32_t));
    d->depth = malloc(o->stacks * sizeof(uint32_t));
    d->versions = malloc(o->stacks);
    for (uint32_t i = 0; i < o->stacks; i++) {
        d->depth[i] = DEPTH;
        d->versions[i] = SAGG_NORMALISE_V1;
        for (uint32_t f = 0; f < DEPTH; f++)
            d->stack_frame[i * DEPTH + f] = f == 0 ? i : o->stacks + f - 1;
    }
    d->columns[3][0] += o->wrong_stack ? 1 : 0;
    m->strings = &d->strings;
    m->frame_class_str = d->columns[0];
    m->frame_method_str = d->columns[1];
    m->frame_file_str = d->columns[2];
    m->frame_line = d->columns[3];
    m->n_frame_class_str = m->n_frame_method_str = m->n_frame_file_str = m->n_frame_line = frames;
    m->frame_kind = (ProtobufCBinaryData){frames, d->kinds};
    m->stack_ids = (ProtobufCBinaryData){(size_t)o->stacks * 16, stack_ids};
    m->normaliser = (ProtobufCBinaryData){o->stacks, d->versions};
    m->stack_depth = d->depth;
    m->n_stack_depth = o->stacks;
    uint8_t *flags = calloc(o->stacks, 1);
    m->stack_flags = (ProtobufCBinaryData){o->stacks, flags};
    m->stack_frame = d->stack_frame;
    m->n_stack_frame = (size_t)o->stacks * DEPTH;
}

static void dictionary_free(dictionary *d)
{
    for (size_t i = 0; i < 4; i++)
        free(d->columns[i]);
    free(d->data);
    free(d->lengths);
    free(d->stack_frame);
    free(d->depth);
    free(d->kinds);
    free(d->versions);
    free(d->message.stack_flags.data);
}

static void maker_free(maker *m)
{
    for (size_t i = 0; i < 5; i++)
        free(m->rows32[i]);
    for (size_t i = 0; i < 3; i++)
        free(m->rows64[i]);
    free(m->stack_ids);
    free(m);
}

static void make_id(uint8_t id[16], uint64_t seed)
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(&seed, sizeof(seed)));
    memcpy(id, hash.digest, 16);
}

uint8_t *batch_make(const batch_options *options, size_t *length, uint64_t *value_total)
{
    Hotstack__V1__ProfileBatch batch = HOTSTACK__V1__PROFILE_BATCH__INIT;
    maker *m = calloc(1, sizeof(*m));
    dictionary d = {0};
    XXH128_canonical_t digest;
    uint8_t id[16];
    size_t body_length;

    m->options = options;
    uint8_t *body = make_body(m, &body_length);
    make_id(id, options->seed);
    XXH128_canonicalFromHash(&digest, XXH3_128bits(body, body_length));
    batch.batch_id = (ProtobufCBinaryData){16, id};
    batch.body = (ProtobufCBinaryData){body_length, body};
    batch.digest = (ProtobufCBinaryData){16, digest.digest};
    if (options->with_stacks) {
        dictionary_make(&d, options, m->stack_ids);
        batch.stacks = &d.message;
    }
    uint8_t *out = malloc(hotstack__v1__profile_batch__get_packed_size(&batch) + 1);
    *length = hotstack__v1__profile_batch__pack(&batch, out);
    *value_total = m->value_total;
    dictionary_free(&d);
    free(body);
    maker_free(m);
    return out;
}

uint8_t *status_make(const batch_options *options, uint32_t state, uint32_t reason, size_t *length)
{
    Hotstack__V1__StatusReport report = HOTSTACK__V1__STATUS_REPORT__INIT;
    Hotstack__V1__StatusColumns status = HOTSTACK__V1__STATUS_COLUMNS__INIT;
    maker *m = calloc(1, sizeof(*m));
    uint8_t id[16];
    uint32_t session = 2, mode = 3, length_ms = 10000, covered_ms = 9400, detail;

    m->options = options;
    add_string(&m->strings, "");
    make_collector(m);
    make_target(m);
    detail = 0;
    m->u64[2][0] = options->start_ms;
    make_id(id, options->seed);
    report.report_id = (ProtobufCBinaryData){16, id};
    report.contract = options->contract;
    report.collector = &m->collector;
    report.strings = strings_message(&m->strings);
    report.targets = &m->targets;
    report.status = &status;
    status.observed_ms = status.last_window_ms = m->u64[2];
    status.state = &state;
    status.reason = &reason;
    status.detail_str = &detail;
    m->u64[3][0] = options->start_ms + 600000;
    status.session = &session;
    status.mode = &mode;
    status.until_ms = m->u64[3];
    status.last_length_ms = &length_ms;
    status.last_covered_ms = &covered_ms;
    status.n_mode = status.n_until_ms = status.n_last_length_ms = status.n_last_covered_ms = 1;
    status.n_observed_ms = status.n_last_window_ms = status.n_state = status.n_reason = 1;
    status.n_detail_str = status.n_session = 1;
    uint8_t *out = malloc(hotstack__v1__status_report__get_packed_size(&report) + 1);
    *length = hotstack__v1__status_report__pack(&report, out);
    maker_free(m);
    return out;
}
