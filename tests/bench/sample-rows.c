/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the profile samples of a recording into columns in memory, with libjfr only, as the
 * yardstick of the Python package's tables. The columns are the default ones of a table of samples:
 * time, type, value, thread, state, source, class, leaf; texts are numbers of a list. Prints ROWS
 * SUM-OF-VALUES CPU-SECONDS, where the time is that of reading only.
 *
 * usage: sample-rows FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <jfr/jfr.h>

/* The columns of the rows. */
typedef struct columns {
    int64_t *time;
    uint64_t *value;
    int32_t *type, *state, *source, *thread, *class_name, *leaf;
    size_t rows, room;
} columns;

/* Texts one after another, each with a number. */
typedef struct texts {
    char *data;
    size_t size, room;
    int32_t count;
} texts;

/* The texts of a chunk by its own dense indexes: number + 1, 0 = not examined yet. */
typedef struct codes {
    int32_t *at;
    uint32_t count;
} codes;

static jfr_error err;

static void require(int rc)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "sample-rows: %s\n", err.message);
    exit(EXIT_FAILURE);
}

static void *grown(void *block, size_t count, size_t size)
{
    void *new_block = realloc(block, count * size);
    if (new_block == NULL) {
        fputs("sample-rows: no memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return new_block;
}

static void more_rows(columns *c)
{
    int32_t **numbers[] = {&c->type, &c->state, &c->source, &c->thread, &c->class_name, &c->leaf};
    c->room = c->room > 0 ? c->room * 2 : 4096;
    c->time = grown(c->time, c->room, sizeof(*c->time));
    c->value = grown(c->value, c->room, sizeof(*c->value));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = grown(*numbers[i], c->room, sizeof(int32_t));
}

static void add_bytes(texts *t, jfr_str text)
{
    while (t->room - t->size < text.len)
        t->data = grown(t->data, t->room = t->room > 0 ? t->room * 2 : 4096, 1);
    if (text.len > 0)
        memcpy(t->data + t->size, text.data, text.len);
    t->size += text.len;
}

static void forget(codes *c, uint32_t count)
{
    free(c->at);
    c->at = calloc((size_t)count + 1, sizeof(*c->at));
    c->count = count;
    if (c->at == NULL)
        exit(EXIT_FAILURE);
}

static int32_t thread_code(jfr_chunk *chunk, codes *known, texts *t, uint32_t index)
{
    jfr_thread thread;
    if (index >= known->count)
        return -1;
    if (known->at[index] == 0) {
        require(jfr_chunk_thread(chunk, index, &thread, &err));
        add_bytes(t, thread.java_name.len > 0 ? thread.java_name : thread.os_name);
        known->at[index] = ++t->count;
    }
    return known->at[index] - 1;
}

static int32_t class_code(jfr_chunk *chunk, codes *known, texts *t, uint32_t index)
{
    jfr_class klass;
    if (index >= known->count)
        return -1;
    if (known->at[index] == 0) {
        require(jfr_chunk_class(chunk, index, &klass, &err));
        add_bytes(t, klass.name);
        known->at[index] = ++t->count;
    }
    return known->at[index] - 1;
}

/* Returns the number of the leaf's name, which is found once for each stack of the chunk. */
static int32_t leaf_code(jfr_chunk *chunk, codes *known, texts *t, uint32_t index)
{
    jfr_frame_ref ref;
    jfr_stack_ref stack;
    jfr_frame frame;
    if (index >= known->count)
        return -1;
    if (known->at[index] == 0) {
        require(jfr_chunk_stack_refs(chunk, index, &ref, 1, &stack, &err));
        if (stack.frame_count > 0) {
            require(jfr_chunk_frame(chunk, &ref, &frame, &err));
            add_bytes(t, frame.method->class_name);
            add_bytes(t, (jfr_str){.data = ".", .len = 1});
            add_bytes(t, frame.method->name);
        }
        known->at[index] = ++t->count;
    }
    return known->at[index] - 1;
}

static void read_chunk(jfr_chunk *chunk, columns *c, texts *t, codes known[3])
{
    jfr_sample sample;
    int rc;
    forget(&known[0], jfr_chunk_get_info(chunk)->thread_count);
    forget(&known[1], jfr_chunk_get_info(chunk)->class_count);
    forget(&known[2], jfr_chunk_get_info(chunk)->stack_count);
    while ((rc = jfr_samples_next(chunk, &sample, &err)) == 1) {
        for (int i = 0; i < sample.value_count; i++) {
            if (c->rows == c->room)
                more_rows(c);
            size_t row = c->rows++;
            c->time[row] = sample.time_ns;
            c->value[row] = sample.values[i].value;
            c->type[row] = (int32_t)sample.values[i].type;
            c->state[row] = sample.state;
            c->source[row] = sample.source;
            c->thread[row] = thread_code(chunk, &known[0], t, sample.thread);
            c->class_name[row] = class_code(chunk, &known[1], t, sample.klass);
            c->leaf[row] = leaf_code(chunk, &known[2], t, sample.stack);
        }
    }
    require(rc);
}

static void let_go(columns *c, texts *t, codes known[3])
{
    int32_t *numbers[] = {c->type, c->state, c->source, c->thread, c->class_name, c->leaf};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        free(numbers[i]);
    free(c->time);
    free(c->value);
    free(t->data);
    for (size_t i = 0; i < 3; i++)
        free(known[i].at);
}

static double cpu_now(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    columns c = {0};
    texts t = {0};
    codes known[3] = {0};
    jfr_file *file;
    jfr_chunk *chunk;
    uint64_t sum = 0;
    int rc;
    if (argc != 2) {
        fputs("usage: sample-rows FILE\n", stderr);
        return 2;
    }
    double begin = cpu_now();
    require(jfr_open_file(&file, argv[1], NULL, &err));
    while ((rc = jfr_next_chunk(file, &chunk, &err)) == 1)
        read_chunk(chunk, &c, &t, known);
    require(rc);
    jfr_close(file);
    double end = cpu_now();
    for (size_t i = 0; i < c.rows; i++)
        sum += c.value[i];
    printf("%zu %" PRIu64 " %.6f\n", c.rows, sum, end - begin);
    let_go(&c, &t, known);
    return 0;
}
