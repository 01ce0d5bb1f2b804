/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the seeds of the corpora with the writer of the unit tests. The files found-NN next to
 * them are inputs that the fuzzers found and that reach more code.
 *
 * usage: seed CORPUS_DIR   (then: git add the files)
 */
#include "../tests/support/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void save(const char *dir, const char *name, const void *data, size_t len)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, len, out) != len || fclose(out) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* The types that stacks, threads and a few kinds of events need. A short input runs fast. */
#define BIT(type) (UINT64_C(1) << (type))
#define STACKS                                                                                     \
    (BIT(T_BOOLEAN) | BIT(T_INT) | BIT(T_LONG) | BIT(T_STRING) | BIT(T_CLASS) | BIT(T_THREAD) |    \
     BIT(T_GROUP) | BIT(T_FRAME_TYPE) | BIT(T_STATE) | BIT(T_STACK) | BIT(T_FRAME) |               \
     BIT(T_METHOD) | BIT(T_SYMBOL))
#define FEW                                                                                        \
    (STACKS | BIT(T_LABEL) | BIT(T_TIMESPAN) | BIT(T_RECORDING) | BIT(T_SETTING) |                 \
     BIT(T_EXECUTION) | BIT(T_IN_TLAB) | BIT(T_MONITOR_ENTER) | BIT(T_PARK))
#define ANYTHING                                                                                   \
    (STACKS | BIT(T_BYTE) | BIT(T_CHAR) | BIT(T_SHORT) | BIT(T_FLOAT) | BIT(T_DOUBLE) |            \
     BIT(T_WEIRD) | BIT(T_EXECUTION) | BIT(T_LABEL) | BIT(T_TIMESPAN) | BIT(T_TIMESTAMP) |         \
     BIT(T_UNSIGNED) | BIT(T_CONTENT_TYPE) | BIT(T_DATA_AMOUNT) | BIT(T_CATEGORY) |                \
     BIT(T_ANYTHING))

static void put_first_events(writer *w)
{
    put_setting(w, T_RECORDING, "event", "cpu");
    put_setting(w, T_EXECUTION, "interval", "0");
    put_setting(w, T_EXECUTION, "period", "10 ms");
    put_setting(w, T_MONITOR_ENTER, "lock", "10000");
    put_execution(w, 600, 70, 7, 1);
    put_monitor_enter(w, 600, 100, 4);
    put_park(w, 100, 4);
}

static void put_few_events(writer *w)
{
    put_first_events(w);
    put_in_tlab(w, 2, 16, 1000);
}

static void put_sample(writer *w)
{
    put_setting(w, T_EXECUTION, "period", "20 ms");
    put_execution(w, 600, 70, 7, 1);
}

static void put_events(writer *w)
{
    put_first_events(w);
    put_park(w, 100, 5);
    put_in_tlab(w, 2, 16, 1000);
    put_outside(w, 3, 300);
    put_alloc_sample(w, 2, 700);
}

/* Writes a recording of two chunks; with plain integers of one chunk with fewer types. */
static void put_recording(writer *w, const chunk_params *params)
{
    w->only = params->plain ? STACKS | BIT(T_SETTING) | BIT(T_EXECUTION) : FEW;
    for (int chunk = 0; chunk < 2 - params->plain; chunk++) {
        begin_chunk(w, params);
        if (params->plain)
            put_sample(w);
        else
            put_few_events(w);
        put_standard_pools(w);
        end_chunk(w, params);
    }
}

static void save_recording(const char *dir, const char *name, const chunk_params *params)
{
    writer w = {.data = NULL};
    put_recording(&w, params);
    save(dir, name, w.data, w.len);
    writer_free(&w);
}

/* Saves enough events for three parts, some of them short. */
static void save_sums(const char *root)
{
    char dir[4000];
    chunk_params params = CHUNK_PARAMS_INIT;
    writer w = {.only = FEW};
    params.async = true;
    snprintf(dir, sizeof(dir), "%s/fuzz_sums", root);
    save_recording(dir, "async", &params);
    params.plain = true;
    save_recording(dir, "plain", &params);
    params.plain = false;
    begin_chunk(&w, &params);
    for (int i = 0; i < 10; i++)
        put_few_events(&w);
    put_standard_pools(&w);
    end_chunk(&w, &params);
    save(dir, "many", w.data, w.len);
    writer_free(&w);
}

/* Writes metadata in which the time zone's offset is null instead of a text. */
static void put_null_attribute(writer *w)
{
    put_u8(w, 1);
    size_t event = w->len;
    put_be(w, 0, 4);
    put_bytes(w, "\0\0\0\0", 4); /* type, start, duration, id */
    put_int(w, 4);
    put_text(w, "root");
    put_text(w, "region");
    put_text(w, "gmtOffset");
    put_text(w, NULL);
    put_bytes(w, "\0\0\1", 3);     /* root: no attribute, one child */
    put_bytes(w, "\1\1\2\3\0", 5); /* region: gmtOffset */
    end_event(w, event);
}

static void save_metadata(const char *dir)
{
    writer w = {.base = 20};
    put_u8(&w, 1);
    writer event = {.base = 20};
    put_metadata(&event, true);
    put_bytes(&w, event.data, event.len);
    save(dir, "metadata", w.data, w.len);
    writer_free(&event);
    w.len = 0;
    put_null_attribute(&w);
    save(dir, "null-attribute", w.data, w.len);
    writer_free(&w);
}

static void save_headers(const char *dir)
{
    writer w = {.data = NULL};
    chunk_params params = CHUNK_PARAMS_INIT;
    begin_chunk(&w, &params);
    w.len = 68;
    save(dir, "open", w.data, w.len);
    put_bytes(&w, "FLR", 4);
    params.plain = true;
    size_t second = w.len;
    begin_chunk(&w, &params);
    w.len = second + 68;
    save(dir, "two", w.data, w.len);
    save(dir, "cut", w.data, 40);
    writer_free(&w);
}

/*
 * Saves the bytes between a checkpoint's head and its end, and between the pools and a chunk's end.
 */
static void save_parts(const char *pools_dir, const char *events_dir)
{
    static const char *const names[] = {"compressed", "plain", "async"};
    for (int i = 0; i < 3; i++) {
        chunk_params params = CHUNK_PARAMS_INIT;
        params.plain = i == 1;
        writer part = {.base = params.base, .plain = params.plain};
        size_t checkpoint = part.len;
        put_standard_pools(&part);
        size_t pools_at = part.pool_count_at + 4 - 1; /* one byte before, for the choice */
        part.data[pools_at] = (uint8_t)i;
        save(pools_dir, names[i], part.data + pools_at, part.len - pools_at);
        part.len = checkpoint;
        put_u8(&part, (unsigned)i | 4);
        put_events(&part);
        save(events_dir, names[i], part.data, part.len);
        writer_free(&part);
    }
}

/* Writes thread groups that are each other's parent. */
static void put_cycle(writer *w)
{
    size_t checkpoint = begin_checkpoint(w);
    begin_pool(w, T_GROUP, 2);
    for (unsigned id = 5; id <= 6; id++) {
        put_long(w, id);
        put_long(w, 11 - id);
        put_text(w, "group");
    }
    end_checkpoint(w, checkpoint);
}

static void save_values(const char *dir)
{
    static const char *const names[] = {"compressed", "plain", "open", "cycle"};
    for (int i = 0; i < 4; i++) {
        chunk_params params = CHUNK_PARAMS_INIT;
        writer w = {.rich = true, .only = ANYTHING};
        params.plain = i == 1;
        params.open = i == 2;
        begin_chunk(&w, &params);
        put_anything(&w, 700, 250);
        put_execution(&w, 600, 70, 7, 1);
        put_standard_pools(&w);
        put_anything_pool(&w);
        if (i == 3)
            put_cycle(&w);
        end_chunk(&w, &params);
        save(dir, names[i], w.data, w.len);
        writer_free(&w);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    char dir[4000];
    chunk_params params = CHUNK_PARAMS_INIT;
    snprintf(dir, sizeof(dir), "%s/fuzz_recording", argv[1]);
    save_recording(dir, "jdk", &params);
    params.async = true;
    save_recording(dir, "async", &params);
    params.open = true;
    save_recording(dir, "open", &params);
    params.open = false;
    params.plain = true;
    save_recording(dir, "plain", &params);
    char other[4000];
    snprintf(dir, sizeof(dir), "%s/fuzz_header", argv[1]);
    save_headers(dir);
    snprintf(dir, sizeof(dir), "%s/fuzz_pools", argv[1]);
    snprintf(other, sizeof(other), "%s/fuzz_events", argv[1]);
    save_parts(dir, other);
    snprintf(dir, sizeof(dir), "%s/fuzz_values", argv[1]);
    save_values(dir);
    save_sums(argv[1]);
    snprintf(dir, sizeof(dir), "%s/fuzz_metadata", argv[1]);
    save_metadata(dir);
    snprintf(dir, sizeof(dir), "%s/fuzz_text", argv[1]);
    save(dir, "utf8", "\1\3\7x\xED\xA0\xBD\xED\xB8\x80", 10);
    save(dir, "utf16", "\1\4\2\xBD\xB0\x03\x80\xBC\x03", 9);
    save(dir, "latin1", "\1\5\2a\xE4", 5);
    save(dir, "pool", "\1\2\x85\x80\x00", 5);
    save(dir, "plain", "\0\3\0\0\0\2ab", 8);
    return EXIT_SUCCESS;
}
