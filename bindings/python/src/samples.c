/* SPDX-License-Identifier: Apache-2.0 */
/* Profile samples as a table: a row for each value of each sample. */
#include "producer.h"

#include <stdlib.h>
#include <string.h>

#include "stacks.h"

enum sample_column {
    SAMPLE_TIME,
    SAMPLE_TYPE,
    SAMPLE_VALUE,
    SAMPLE_RAW_VALUE,
    SAMPLE_THREAD,
    SAMPLE_OS_TID,
    SAMPLE_JAVA_TID,
    SAMPLE_STATE,
    SAMPLE_SOURCE,
    SAMPLE_LOCK,
    SAMPLE_CLASS,
    SAMPLE_LEAF,
    SAMPLE_STACK_ID,
    SAMPLE_STACK,
    SAMPLE_COLUMNS
};

const char *const sample_columns[] = {"time",   "type",     "value",    "raw_value", "thread",
                                      "os_tid", "java_tid", "state",    "source",    "lock",
                                      "class",  "leaf",     "stack_id", "stack"};

size_t sample_column_count(void)
{
    return SAMPLE_COLUMNS;
}

/* By jfr_sample_source; 0 is none. */
static const char *const sources[] = {
    "",
    "jdk.ExecutionSample",
    "jdk.CPUTimeSample",
    "jdk.NativeMethodSample",
    "profiler.WallClockSample",
    "jdk.ObjectAllocationInNewTLAB",
    "jdk.ObjectAllocationOutsideTLAB",
    "jdk.ObjectAllocationSample",
    "profiler.LiveObject",
    "profiler.Malloc",
    "jdk.JavaMonitorEnter",
    "jdk.JavaMonitorWait",
    "jdk.ThreadPark",
    "profiler.NativeLock",
};
/* By jfr_thread_state. */
static const char *const states[] = {"unknown", "runnable", "sleeping", "native"};
/* By jfr_lock_kind. */
static const char *const locks[] = {"", "monitor", "park", "native", "idle_park", "monitor_wait"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

typedef struct thread_row {
    bool known;
    int64_t os_tid, java_tid; /* 0 = none */
} thread_row;

typedef struct samples {
    producer base;
    uint32_t types;
    int64_t from_ns, to_ns;
    enum sample_column kinds[SAMPLE_COLUMNS]; /* of the table's columns */
    bool in_chunk;
    codes threads, classes, leaves, ids, texts;
    thread_row *thread_rows;
    stack_cache stacks;
} samples;

/* ---- what stays the same in a batch ---- */

static bool add_words(column *c, const char *const *words, size_t count)
{
    uint32_t code;
    for (size_t i = 0; i < count; i++)
        if (!column_word(c, words[i], strlen(words[i]), &code))
            return false;
    return true;
}

static bool add_type_words(column *c)
{
    uint32_t code;
    for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++) {
        const char *name = jfr_profile_type_name((jfr_profile_type)type);
        if (!column_word(c, name, strlen(name), &code))
            return false;
    }
    return true;
}

/* Lists of fixed words: codes are the libraries' own numbers. */
static bool begin_batch(samples *s)
{
    codes *all[] = {&s->threads, &s->classes, &s->leaves, &s->ids, &s->texts};
    for (size_t i = 0; i < COUNT(all); i++)
        codes_forget(all[i]);
    for (size_t i = 0; i < s->base.rows.count; i++) {
        column *c = &s->base.rows.columns[i];
        bool added = true;
        if (s->kinds[i] == SAMPLE_TYPE)
            added = add_type_words(c);
        else if (s->kinds[i] == SAMPLE_STATE)
            added = add_words(c, states, COUNT(states));
        else if (s->kinds[i] == SAMPLE_SOURCE)
            added = add_words(c, sources, COUNT(sources));
        else if (s->kinds[i] == SAMPLE_LOCK)
            added = add_words(c, locks, COUNT(locks));
        if (!added)
            return false;
    }
    return true;
}

/* ---- what stays the same in a chunk ---- */

static bool begin_chunk(samples *s)
{
    jfr_chunk *chunk = s->base.w.chunk;
    uint32_t threads = jfr_chunk_thread_count(chunk);
    free(s->thread_rows);
    s->thread_rows = calloc((size_t)threads + 1, sizeof(*s->thread_rows));
    return s->thread_rows != NULL && codes_size(&s->threads, threads) &&
           codes_size(&s->classes, jfr_chunk_class_count(chunk)) &&
           stack_cache_begin(&s->stacks, chunk) &&
           codes_size(&s->leaves, stack_cache_methods(&s->stacks)) &&
           codes_size(&s->ids, jfr_chunk_stack_count(chunk)) &&
           codes_size(&s->texts, jfr_chunk_stack_count(chunk));
}

/* ---- cells ---- */

/* What can go wrong with a part of a sample: only missing memory ends the table. */
static int forgive(int rc, const jfr_error *cause, failure *f)
{
    return rc == JFR_ERR_NOMEM ? failure_jfr(f, cause) : 0;
}

static int done(bool added, failure *f)
{
    return added ? 0 : failure_nomem(f);
}

/* A text that is known by an index, or null. */
static int add_word(samples *s, column *c, codes *known, uint32_t index, const char *text,
                    size_t size, failure *f)
{
    uint32_t code;
    s->base.text += size;
    bool added = column_word(c, text, size, &code) && codes_set(known, index, code) &&
                 column_add_code(c, code);
    return done(added, f);
}

static int add_thread(samples *s, column *c, const jfr_sample *from, failure *f)
{
    uint32_t code;
    jfr_thread thread;
    jfr_error cause;
    if (codes_get(&s->threads, from->thread, &code))
        return done(column_add_code(c, code), f);
    int rc = from->thread == JFR_NONE
                 ? JFR_ERR_USAGE
                 : jfr_chunk_thread(s->base.w.chunk, from->thread, &thread, &cause);
    if (rc < 0)
        return forgive(rc, &cause, f) != 0 ? -1 : done(column_add_null(c), f);
    jfr_str name = thread.java_name.len > 0 ? thread.java_name : thread.os_name;
    return add_word(s, c, &s->threads, from->thread, name.data, name.len, f);
}

/* Its row is read once a chunk. */
static int read_thread(samples *s, uint32_t index, thread_row **row, failure *f)
{
    jfr_thread thread;
    jfr_error cause;
    uint32_t count = jfr_chunk_thread_count(s->base.w.chunk);
    *row = &s->thread_rows[index < count ? index : count];
    if ((*row)->known || index >= count)
        return 0;
    int rc = jfr_chunk_thread(s->base.w.chunk, index, &thread, &cause);
    (*row)->known = true;
    if (rc == 0) {
        (*row)->os_tid = thread.os_tid;
        (*row)->java_tid = thread.java_tid;
    }
    return forgive(rc, &cause, f);
}

static int add_tid(samples *s, column *c, const jfr_sample *from, bool java, failure *f)
{
    thread_row *row;
    if (read_thread(s, from->thread, &row, f) != 0)
        return -1;
    int64_t tid = java ? row->java_tid : row->os_tid;
    return done(tid != 0 ? column_add_int(c, tid) : column_add_null(c), f);
}

static int add_class(samples *s, column *c, const jfr_sample *from, failure *f)
{
    uint32_t code;
    jfr_class klass;
    jfr_error cause;
    if (codes_get(&s->classes, from->klass, &code))
        return done(column_add_code(c, code), f);
    int rc = from->klass == JFR_NONE
                 ? JFR_ERR_USAGE
                 : jfr_chunk_class(s->base.w.chunk, from->klass, &klass, &cause);
    if (rc < 0)
        return forgive(rc, &cause, f) != 0 ? -1 : done(column_add_null(c), f);
    return add_word(s, c, &s->classes, from->klass, klass.name.data, klass.name.len, f);
}

static int add_leaf(samples *s, column *c, const jfr_sample *from, failure *f)
{
    uint32_t code;
    const stack_row *row = stack_cache_row(&s->stacks, from->stack, f);
    if (row == NULL)
        return -1;
    if (!row->good || row->frames == 0)
        return done(column_add_null(c), f);
    if (codes_get(&s->leaves, row->leaf, &code))
        return done(column_add_code(c, code), f);
    const char *name = stack_cache_name(&s->stacks, row->leaf);
    return add_word(s, c, &s->leaves, row->leaf, name, strlen(name), f);
}

static int add_stack_id(samples *s, column *c, const jfr_sample *from, failure *f)
{
    uint32_t code;
    char hex[33];
    if (codes_get(&s->ids, from->stack, &code))
        return done(column_add_code(c, code), f);
    const stack_row *row = stack_cache_row(&s->stacks, from->stack, f);
    if (row == NULL)
        return -1;
    if (!row->good)
        return done(column_add_null(c), f);
    sagg_stack_id_hex(hex, &row->id);
    return add_word(s, c, &s->ids, from->stack, hex, 32, f);
}

static int add_stack(samples *s, column *c, const jfr_sample *from, failure *f)
{
    uint32_t code;
    bytes text = {0};
    if (codes_get(&s->texts, from->stack, &code))
        return done(column_add_code(c, code), f);
    int rc = stack_cache_text(&s->stacks, from->stack, &text, f);
    if (rc == 0)
        rc = done(column_add_null(c), f);
    else if (rc == 1)
        rc = add_word(s, c, &s->texts, from->stack, (const char *)text.data, text.size, f);
    bytes_free(&text);
    return rc;
}

/* A value that does not fit is cut; only damaged recordings have one. */
static int add_value(column *c, uint64_t value, failure *f)
{
    return done(column_add_int(c, value < INT64_MAX ? (int64_t)value : INT64_MAX), f);
}

static int add_cell(samples *s, size_t i, const jfr_sample *from, const jfr_value *value,
                    failure *f)
{
    column *c = &s->base.rows.columns[i];
    switch (s->kinds[i]) {
    case SAMPLE_TIME:
        return done(column_add_int(c, from->time_ns), f);
    case SAMPLE_TYPE:
        return done(column_add_code(c, value->type), f);
    case SAMPLE_VALUE:
        return add_value(c, value->value, f);
    case SAMPLE_RAW_VALUE:
        return add_value(c, value->raw, f);
    case SAMPLE_THREAD:
        return add_thread(s, c, from, f);
    case SAMPLE_OS_TID:
        return add_tid(s, c, from, false, f);
    case SAMPLE_JAVA_TID:
        return add_tid(s, c, from, true, f);
    case SAMPLE_STATE:
        return done(column_add_code(c, from->state), f);
    case SAMPLE_SOURCE:
        return done(column_add_code(c, from->source), f);
    case SAMPLE_LOCK:
        return done(from->lock_kind != JFR_LOCK_NONE ? column_add_code(c, from->lock_kind)
                                                     : column_add_null(c),
                    f);
    case SAMPLE_CLASS:
        return add_class(s, c, from, f);
    case SAMPLE_LEAF:
        return add_leaf(s, c, from, f);
    case SAMPLE_STACK_ID:
        return add_stack_id(s, c, from, f);
    default:
        return add_stack(s, c, from, f);
    }
}

/* ---- rows ---- */

static int add_sample(samples *s, const jfr_sample *from, failure *f)
{
    if (from->time_ns < s->from_ns || from->time_ns >= s->to_ns)
        return 0;
    for (int v = 0; v < from->value_count; v++) {
        const jfr_value *value = &from->values[v];
        if ((s->types >> value->type & 1) == 0)
            continue;
        for (size_t i = 0; i < s->base.rows.count; i++)
            if (add_cell(s, i, from, value, f) != 0)
                return -1;
    }
    return 0;
}

/* The current chunk's next samples. 1: the batch is full, 0: the chunk ended, -1. A limit that a
 * damaged chunk passes ends its samples. */
static int add_chunk(samples *s, failure *f)
{
    jfr_sample sample;
    jfr_error cause;
    int rc;
    while ((rc = jfr_samples_next(s->base.w.chunk, &sample, &cause)) == 1) {
        if (add_sample(s, &sample, f) != 0)
            return -1;
        if (producer_is_full(&s->base))
            return 1;
    }
    return forgive(rc, &cause, f);
}

static int fill(producer *p, failure *f)
{
    samples *s = (samples *)p;
    if (!begin_batch(s))
        return failure_nomem(f);
    for (;;) {
        if (!s->in_chunk) {
            int rc = walk_next(&p->w, f);
            if (rc != 1)
                return rc;
            if (!begin_chunk(s))
                return failure_nomem(f);
            s->in_chunk = true;
        }
        int rc = add_chunk(s, f);
        if (rc != 0)
            return rc;
        s->in_chunk = false;
    }
}

static void free_samples(producer *p)
{
    samples *s = (samples *)p;
    codes *all[] = {&s->threads, &s->classes, &s->leaves, &s->ids, &s->texts};
    for (size_t i = 0; i < COUNT(all); i++)
        codes_free(all[i]);
    free(s->thread_rows);
    stack_cache_end(&s->stacks);
}

static enum column_kind kind_of(size_t number)
{
    switch (number) {
    case SAMPLE_TIME:
        return COLUMN_TIME;
    case SAMPLE_VALUE:
    case SAMPLE_RAW_VALUE:
    case SAMPLE_OS_TID:
    case SAMPLE_JAVA_TID:
        return COLUMN_INT;
    default:
        return COLUMN_TEXT;
    }
}

producer *samples_open(inputs *in, const sample_request *request, failure *f)
{
    samples *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        (void)failure_nomem(f);
        return NULL;
    }
    s->base.fill = fill;
    s->base.free = free_samples;
    s->types = request->types;
    s->from_ns = request->from_ns;
    s->to_ns = request->to_ns;
    walk_begin(&s->base.w, in);
    bool good = table_init(&s->base.rows, request->count);
    for (size_t i = 0; good && i < request->count; i++) {
        size_t number = request->columns[i];
        s->kinds[i] = (enum sample_column)number;
        good = table_name(&s->base.rows, i, sample_columns[number], kind_of(number));
    }
    if (good)
        return &s->base;
    producer_free(&s->base);
    (void)failure_nomem(f);
    return NULL;
}
