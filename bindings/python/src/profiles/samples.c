/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profile samples as a table with a row for each value of each sample. */
#include "tables/producer.h"

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
    SAMPLE_INPUT,
    SAMPLE_COLUMNS
};

const char *const sample_columns[] = {"time",   "type",     "value",    "raw_value", "thread",
                                      "os_tid", "java_tid", "state",    "source",    "lock",
                                      "class",  "leaf",     "stack_id", "stack",     "input"};

size_t sample_column_count(void)
{
    return SAMPLE_COLUMNS;
}

/* By jfr_thread_state. */
static const char *const states[] = {"unknown", "runnable", "sleeping", "native"};
/* By jfr_lock_kind. */
static const char *const locks[] = {"", "monitor", "park", "native", "idle_park", "monitor_wait"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

typedef struct thread_row {
    bool known;
    int64_t os_tid, java_tid; /* 0 = none */
} thread_row;

/* Samples that are added to the table together, column by column. */
enum { BLOCK_SAMPLES = 128 };

typedef struct block {
    jfr_sample samples[BLOCK_SAMPLES];
    int32_t codes[SAMPLE_COLUMNS][BLOCK_SAMPLES]; /* of texts, by column and sample; -1 = null */
    bool has_null[SAMPLE_COLUMNS];
    size_t count;
    uint8_t sample_of[BLOCK_SAMPLES * JFR_SAMPLE_VALUES]; /* by row */
    const jfr_value *values[BLOCK_SAMPLES * JFR_SAMPLE_VALUES];
    size_t rows;
} block;

typedef struct samples {
    producer base;
    uint32_t types;
    int64_t from_ns, to_ns;
    enum sample_column kinds[SAMPLE_COLUMNS]; /* of the table's columns */
    bool in_chunk;
    codes threads, classes, leaves, ids, texts; /* the last three by stack */
    thread_row *thread_rows;
    stack_cache stacks;
    block now;
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

static bool add_source_words(column *c)
{
    uint32_t code;
    for (unsigned source = 0; source < JFR_SOURCE_COUNT; source++) {
        const char *event = recording_source_event(source);
        if (!column_word(c, event, strlen(event), &code))
            return false;
    }
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

/* Adds the lists of fixed words to the dictionaries; their codes are the libraries' own numbers. */
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
            added = add_source_words(c);
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
    uint32_t threads = jfr_chunk_get_info(chunk)->thread_count;
    free(s->thread_rows);
    s->thread_rows = calloc((size_t)threads + 1, sizeof(*s->thread_rows));
    return s->thread_rows != NULL && codes_size(&s->threads, threads) &&
           codes_size(&s->classes, jfr_chunk_get_info(chunk)->class_count) &&
           stack_cache_begin(&s->stacks, chunk) &&
           codes_size(&s->leaves, jfr_chunk_get_info(chunk)->stack_count) &&
           codes_size(&s->ids, jfr_chunk_get_info(chunk)->stack_count) &&
           codes_size(&s->texts, jfr_chunk_get_info(chunk)->stack_count);
}

/* ---- texts ---- */

/* Ends the table only without memory; other failures concern a part of one sample. */
static int forgive(int rc, const jfr_error *cause, failure *f)
{
    return rc == JFR_ERR_NOMEM ? failure_jfr(f, cause) : 0;
}

static int done(bool added, failure *f)
{
    return added ? 0 : failure_nomem(f);
}

/* Returns the code of a text that is new in this batch, and remembers it for `index`. */
static int learn(samples *s, column *c, codes *known, uint32_t index, jfr_str text, int32_t *code,
                 failure *f)
{
    uint32_t word;
    s->base.text += text.len;
    if (!column_word(c, text.data, text.len, &word) || !codes_set(known, index, word))
        return failure_nomem(f);
    *code = (int32_t)word;
    return 0;
}

/* Each finds the text's code in the batch, or -1 for none. */

static int thread_code(samples *s, column *c, uint32_t index, int32_t *code, failure *f)
{
    jfr_thread thread;
    jfr_error cause;
    int rc = jfr_chunk_thread(s->base.w.chunk, index, &thread, &cause);
    if (rc < 0)
        return forgive(rc, &cause, f);
    jfr_str name = thread.java_name.len > 0 ? thread.java_name : thread.os_name;
    return learn(s, c, &s->threads, index, name, code, f);
}

static int class_code(samples *s, column *c, uint32_t index, int32_t *code, failure *f)
{
    jfr_class klass;
    jfr_error cause;
    int rc = jfr_chunk_class(s->base.w.chunk, index, &klass, &cause);
    if (rc < 0)
        return forgive(rc, &cause, f);
    return learn(s, c, &s->classes, index, klass.name, code, f);
}

static int leaf_code(samples *s, column *c, uint32_t index, int32_t *code, failure *f)
{
    const char *name;
    int rc = stack_cache_leaf(&s->stacks, index, &name, f);
    if (rc == 1)
        rc = learn(s, c, &s->leaves, index, (jfr_str){name, strlen(name)}, code, f);
    return rc;
}

static int id_code(samples *s, column *c, uint32_t index, int32_t *code, failure *f)
{
    char hex[33];
    const stack_row *row = stack_cache_row(&s->stacks, index, f);
    if (row == NULL)
        return -1;
    if (!row->good)
        return 0;
    sagg_stack_id_hex(hex, &row->id);
    return learn(s, c, &s->ids, index, (jfr_str){hex, 32}, code, f);
}

static int stack_code(samples *s, column *c, uint32_t index, int32_t *code, failure *f)
{
    bytes text = {0};
    int rc = stack_cache_text(&s->stacks, index, &text, f);
    if (rc == 1)
        rc = learn(s, c, &s->texts, index, (jfr_str){(const char *)text.data, text.size}, code, f);
    bytes_free(&text);
    return rc;
}

/*
 * The source of a column's texts: the codes that are known, and the function that finds a new one.
 */
typedef int (*find_code)(samples *s, column *c, uint32_t index, int32_t *code, failure *f);

typedef struct text_source {
    codes *known;
    uint32_t index;
    find_code find;
} text_source;

static bool is_text(enum sample_column kind)
{
    return kind == SAMPLE_THREAD || kind == SAMPLE_CLASS || kind == SAMPLE_LEAF ||
           kind == SAMPLE_STACK_ID || kind == SAMPLE_STACK;
}

static text_source source_of(samples *s, enum sample_column kind, const jfr_sample *from)
{
    switch (kind) {
    case SAMPLE_THREAD:
        return (text_source){&s->threads, from->thread, thread_code};
    case SAMPLE_CLASS:
        return (text_source){&s->classes, from->klass, class_code};
    case SAMPLE_LEAF:
        return (text_source){&s->leaves, from->stack, leaf_code};
    case SAMPLE_STACK_ID:
        return (text_source){&s->ids, from->stack, id_code};
    default:
        return (text_source){&s->texts, from->stack, stack_code};
    }
}

/* Finds the codes of the texts of the block's last sample. */
static int find_codes(samples *s, failure *f)
{
    block *b = &s->now;
    const jfr_sample *from = &b->samples[b->count];
    for (size_t i = 0; i < s->base.rows.count; i++) {
        enum sample_column kind = s->kinds[i];
        uint32_t word;
        if (!is_text(kind))
            continue;
        text_source source = source_of(s, kind, from);
        int32_t code = -1;
        if (codes_get(source.known, source.index, &word))
            code = (int32_t)word;
        else if (source.index != JFR_NONE &&
                 source.find(s, &s->base.rows.columns[i], source.index, &code, f) != 0)
            return -1;
        b->codes[kind][b->count] = code;
        b->has_null[kind] = b->has_null[kind] || code < 0;
    }
    return 0;
}

/* ---- columns ---- */

/* Reads a thread's row, once in a chunk. */
static int read_thread(samples *s, uint32_t index, thread_row **row, failure *f)
{
    jfr_thread thread;
    jfr_error cause;
    uint32_t count = jfr_chunk_get_info(s->base.w.chunk)->thread_count;
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

static int add_tids(samples *s, column *c, bool java, failure *f)
{
    const block *b = &s->now;
    for (size_t r = 0; r < b->rows; r++) {
        thread_row *row;
        if (read_thread(s, b->samples[b->sample_of[r]].thread, &row, f) != 0)
            return -1;
        int64_t tid = java ? row->java_tid : row->os_tid;
        if (!(tid != 0 ? column_add_int(c, tid) : column_add_null(c)))
            return failure_nomem(f);
    }
    return 0;
}

/* Limits a value to int64; only damaged recordings have larger ones. */
static int64_t cut(uint64_t value)
{
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static bool add_numbers(const block *b, column *c, enum sample_column kind)
{
    int64_t *to = column_room(c, b->rows, sizeof(*to));
    if (to == NULL)
        return false;
    size_t rows = b->rows;
    if (kind == SAMPLE_TIME)
        for (size_t r = 0; r < rows; r++)
            to[r] = b->samples[b->sample_of[r]].time_ns;
    else if (kind == SAMPLE_VALUE)
        for (size_t r = 0; r < rows; r++)
            to[r] = cut(b->values[r]->value);
    else
        for (size_t r = 0; r < rows; r++)
            to[r] = cut(b->values[r]->raw);
    return column_end_rows(c, rows);
}

/* Adds the codes of words from fixed lists. */
static bool add_fixed(const block *b, column *c, enum sample_column kind)
{
    uint32_t *to = column_room(c, b->rows, sizeof(*to));
    if (to == NULL)
        return false;
    size_t rows = b->rows;
    if (kind == SAMPLE_TYPE)
        for (size_t r = 0; r < rows; r++)
            to[r] = (uint32_t)b->values[r]->type;
    else if (kind == SAMPLE_STATE)
        for (size_t r = 0; r < rows; r++)
            to[r] = b->samples[b->sample_of[r]].state;
    else
        for (size_t r = 0; r < rows; r++)
            to[r] = b->samples[b->sample_of[r]].source;
    return column_end_rows(c, rows);
}

static bool add_locks(const block *b, column *c)
{
    for (size_t r = 0; r < b->rows; r++) {
        uint8_t kind = b->samples[b->sample_of[r]].lock_kind;
        if (!(kind != JFR_LOCK_NONE ? column_add_code(c, kind) : column_add_null(c)))
            return false;
    }
    return true;
}

/* Adds the name of the input, which is the same for all rows of a block. */
static bool add_inputs(samples *s, column *c)
{
    char name[INPUT_NAME];
    uint32_t code;
    inputs_name(s->base.w.in, s->base.w.index, name);
    if (!column_word(c, name, strlen(name), &code))
        return false;
    for (size_t r = 0; r < s->now.rows; r++)
        if (!column_add_code(c, code))
            return false;
    return true;
}

static bool add_texts(const block *b, column *c, enum sample_column kind)
{
    const int32_t *codes_of = b->codes[kind];
    if (b->has_null[kind]) {
        for (size_t r = 0; r < b->rows; r++) {
            int32_t code = codes_of[b->sample_of[r]];
            if (!(code >= 0 ? column_add_code(c, (uint32_t)code) : column_add_null(c)))
                return false;
        }
        return true;
    }
    size_t rows = b->rows;
    int32_t *to = column_room(c, rows, sizeof(*to));
    for (size_t r = 0; to != NULL && r < rows; r++)
        to[r] = codes_of[b->sample_of[r]];
    return to != NULL && column_end_rows(c, rows);
}

static int add_column(samples *s, size_t i, failure *f)
{
    const block *b = &s->now;
    column *c = &s->base.rows.columns[i];
    switch (s->kinds[i]) {
    case SAMPLE_TIME:
    case SAMPLE_VALUE:
    case SAMPLE_RAW_VALUE:
        return done(add_numbers(b, c, s->kinds[i]), f);
    case SAMPLE_TYPE:
    case SAMPLE_STATE:
    case SAMPLE_SOURCE:
        return done(add_fixed(b, c, s->kinds[i]), f);
    case SAMPLE_OS_TID:
    case SAMPLE_JAVA_TID:
        return add_tids(s, c, s->kinds[i] == SAMPLE_JAVA_TID, f);
    case SAMPLE_LOCK:
        return done(add_locks(b, c), f);
    case SAMPLE_INPUT:
        return done(add_inputs(s, c), f);
    default:
        return done(add_texts(b, c, s->kinds[i]), f);
    }
}

/* ---- rows ---- */

/* Adds the rows of the block's last sample: one for each value that was asked for. */
static int take_sample(samples *s, failure *f)
{
    block *b = &s->now;
    const jfr_sample *from = &b->samples[b->count];
    size_t before = b->rows;
    if (from->time_ns < s->from_ns || from->time_ns >= s->to_ns)
        return 0;
    for (int v = 0; v < from->value_count; v++) {
        if ((s->types >> from->values[v].type & 1) == 0)
            continue;
        b->sample_of[b->rows] = (uint8_t)b->count;
        b->values[b->rows++] = &from->values[v];
    }
    if (b->rows == before)
        return 0;
    if (find_codes(s, f) != 0)
        return -1;
    b->count++;
    return 0;
}

/* Returns how many samples fit before the batch is full. */
static size_t block_room(const samples *s)
{
    size_t rows = (size_t)(s->base.row_limit - table_rows(&s->base.rows)) / JFR_SAMPLE_VALUES;
    return rows < 1 ? 1 : rows < BLOCK_SAMPLES ? rows : BLOCK_SAMPLES;
}

/* Adds the chunk's next samples to the columns. Returns 1 when there may be more, 0 when the chunk
 * has ended, -1 on failure. */
static int add_block(samples *s, failure *f)
{
    block *b = &s->now;
    jfr_error cause;
    int rc = 1;
    size_t room = block_room(s);
    b->count = b->rows = 0;
    memset(b->has_null, 0, sizeof(b->has_null));
    while (b->count < room && s->base.text < s->base.text_limit &&
           (rc = jfr_samples_next(s->base.w.chunk, &b->samples[b->count], &cause)) == 1)
        if (take_sample(s, f) != 0)
            return -1;
    for (size_t i = 0; b->rows > 0 && i < s->base.rows.count; i++)
        if (add_column(s, i, f) != 0)
            return -1;
    return rc >= 0 ? rc : forgive(rc, &cause, f);
}

/* Adds the current chunk's next samples. Returns 1 when the batch is full, 0 when the chunk has
 * ended, -1 on failure. When a damaged chunk passes a limit, its samples end. */
static int add_chunk(samples *s, failure *f)
{
    int rc;
    while ((rc = add_block(s, f)) == 1)
        if (producer_is_full(&s->base))
            return 1;
    return rc;
}

static int fill(producer *p, failure *f)
{
    samples *s = (samples *)p;
    if (producer_is_empty(p) && !begin_batch(s))
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
