/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the methods in which a recording spends most, by the top frame of each stack.
 *
 * usage: jfr-top FILE [TYPE]     TYPE: cpu (default), alloc_bytes, lock_delay, wall, ...
 */
#include <inttypes.h>
#include <jfr/jfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char name[200];
    uint64_t value;
};

struct table {
    struct entry *entries;
    size_t count;
    size_t capacity;
    uint64_t total;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->value;
    uint64_t y = ((const struct entry *)b)->value;
    return (x < y) - (x > y);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "jfr-top: out of memory\n");
        exit(1);
    }
    return memory;
}

static void add(struct table *table, const jfr_method *method, uint64_t value)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity * 2 + 64;
        table->entries = must(realloc(table->entries, table->capacity * sizeof(*table->entries)));
    }
    struct entry *entry = &table->entries[table->count++];
    entry->value = value;
    snprintf(entry->name, sizeof(entry->name), "%.*s%s%.*s", (int)method->class_name.len,
             method->class_name.data, method->class_name.len > 0 ? "." : "", (int)method->name.len,
             method->name.data);
}

/* Adds one chunk: sums its values by stack, then decodes each used stack once. */
static int add_chunk(struct table *table, jfr_chunk *chunk, jfr_profile_type type, jfr_error *err)
{
    uint32_t stacks = jfr_chunk_get_info(chunk)->stack_count;
    uint64_t *by_stack = must(calloc((size_t)stacks + 1, sizeof(*by_stack)));
    jfr_sample sample;
    int rc;
    while ((rc = jfr_samples_next(chunk, &sample, err)) == 1) {
        for (int i = 0; i < sample.value_count; i++) {
            if (sample.values[i].type != type)
                continue;
            table->total += sample.values[i].value;
            if (sample.stack != JFR_NONE)
                by_stack[sample.stack] += sample.values[i].value;
        }
    }
    for (uint32_t i = 0; rc == 0 && i < stacks; i++) {
        jfr_stack stack;
        if (by_stack[i] == 0)
            continue;
        rc = jfr_chunk_stack(chunk, i, &stack, err);
        if (rc == 0 && stack.frame_count > 0)
            add(table, stack.frames[0].method, by_stack[i]);
    }
    free(by_stack);
    return rc;
}

/* Joins the entries of a method in several stacks and chunks; the heaviest come first. */
static void merge(struct table *table)
{
    size_t kept = 0;
    if (table->count == 0)
        return;
    qsort(table->entries, table->count, sizeof(*table->entries), by_name);
    for (size_t i = 1; i < table->count; i++) {
        if (strcmp(table->entries[kept].name, table->entries[i].name) == 0)
            table->entries[kept].value += table->entries[i].value;
        else
            table->entries[++kept] = table->entries[i];
    }
    table->count = kept + 1;
    qsort(table->entries, table->count, sizeof(*table->entries), by_value);
}

static int parse_type(const char *name)
{
    for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++) {
        if (strcmp(name, jfr_profile_type_name((jfr_profile_type)type)) == 0)
            return type;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int type = argc > 2 ? parse_type(argv[2]) : JFR_CPU;
    if (argc < 2 || type < 0) {
        fprintf(stderr, "usage: jfr-top FILE [TYPE]\n");
        return 2;
    }
    struct table table = {0};
    jfr_error err;
    jfr_file *file;
    jfr_chunk *chunk;
    int rc = jfr_open_file(&file, argv[1], NULL, &err);
    if (rc == 0) {
        while ((rc = jfr_next_chunk(file, &chunk, &err)) == 1) {
            if ((rc = add_chunk(&table, chunk, (jfr_profile_type)type, &err)) < 0)
                break;
        }
        jfr_close(file);
    }
    if (rc < 0) {
        fprintf(stderr, "jfr-top: %s: %s\n", argv[1], err.message);
        return 1;
    }
    merge(&table);
    printf("%" PRIu64 " %s\n", table.total, jfr_profile_type_unit((jfr_profile_type)type));
    for (size_t i = 0; i < table.count && i < 20; i++)
        printf("%6.2f%%  %s\n", 100.0 * (double)table.entries[i].value / (double)table.total,
               table.entries[i].name);
    free(table.entries);
    return 0;
}
