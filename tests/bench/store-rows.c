/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes profile rows into a store with libchsink, in blocks of 100,000, and prints the cost of
 * appending, encoding and inserting: ROWS WALL-SECONDS CPU-SECONDS. The values are in columns, as
 * in connect_rows.py.
 *
 * usage: store-rows embedded LIBRARY DIRECTORY BLOCKS | store-rows http URL BLOCKS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <chsink/chsink.h>

enum { ROWS = 100000, COLUMNS = 8, STACKS = 5000, SERVICES = 20, POOLS = 16, NAME = 16 };

static const char *const names[COLUMNS] = {"workload", "type", "time",  "stack_id",
                                           "pool",     "raw",  "value", "samples"};
static const char *const types[COLUMNS] = {"LowCardinality(String)",
                                           "UInt8",
                                           "DateTime64(3, 'UTC')",
                                           "FixedString(16)",
                                           "LowCardinality(String)",
                                           "UInt64",
                                           "UInt64",
                                           "UInt64"};

static char services[SERVICES][NAME], pools[POOLS][NAME];
static chs_error err;

static void require(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", chs_code_name(rc), err.message);
    exit(EXIT_FAILURE);
}

static double cpu_now(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void make_names(void)
{
    for (unsigned i = 0; i < SERVICES; i++)
        (void)snprintf(services[i], NAME, "service-%02u", i);
    for (unsigned i = 0; i < POOLS; i++)
        (void)snprintf(pools[i], NAME, "pool-%u-#", i);
}

/* The values of a block's rows, column by column. */
typedef struct rows {
    chs_bytes workload[ROWS], stack_id[ROWS], pool[ROWS];
    uint64_t stack[ROWS][2]; /* the ids point into it */
    uint64_t type[ROWS], raw[ROWS], value[ROWS], samples[ROWS];
    int64_t time[ROWS];
} rows;

/* Makes the same rows as connect_rows.py. */
static void make_rows(rows *r, uint64_t first)
{
    for (uint64_t at = 0; at < ROWS; at++) {
        uint64_t i = first + at;
        const char *workload = services[i / 5000 % SERVICES];
        const char *pool = pools[i % POOLS];

        r->stack[at][0] = i * 7919 % STACKS;
        r->stack[at][1] = 0;
        r->workload[at] = (chs_bytes){workload, strlen(workload)};
        r->stack_id[at] = (chs_bytes){(const char *)r->stack[at], sizeof(r->stack[at])};
        r->pool[at] = (chs_bytes){pool, strlen(pool)};
        r->type[at] = 1 + i % 5;
        r->time[at] = 1760000000000 + (int64_t)(i / 1000) * 1000;
        r->raw[at] = 1000 + i % 977;
        r->value[at] = 2 * (1000 + i % 977);
        r->samples[at] = 1 + i % 3;
    }
}

/* The block remembers a failed append: chs_block_encode reports it. */
static void append_rows(chs_column *columns[COLUMNS], const rows *r)
{
    (void)chs_append_bytes_rows(columns[0], r->workload, ROWS);
    (void)chs_append_uint_rows(columns[1], r->type, ROWS);
    (void)chs_append_int_rows(columns[2], r->time, ROWS);
    (void)chs_append_bytes_rows(columns[3], r->stack_id, ROWS);
    (void)chs_append_bytes_rows(columns[4], r->pool, ROWS);
    (void)chs_append_uint_rows(columns[5], r->raw, ROWS);
    (void)chs_append_uint_rows(columns[6], r->value, ROWS);
    (void)chs_append_uint_rows(columns[7], r->samples, ROWS);
}

static void write_block(chs_transport *store, chs_block *block, chs_column *columns[COLUMNS],
                        const rows *r, uint64_t number)
{
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    char token[32];

    chs_block_clear(block);
    append_rows(columns, r);
    require(chs_block_encode(&request.block, block, &err));
    (void)snprintf(token, sizeof(token), "block-%llu", (unsigned long long)number);
    request.table = "bench_rows";
    request.columns = names;
    request.column_count = COLUMNS;
    request.token = token;
    require(chs_insert(store, &request, NULL, &err));
}

static chs_transport *open_store(char **argv)
{
    chs_transport *store;

    if (strcmp(argv[1], "http") == 0) {
        chs_http_options options = CHS_HTTP_OPTIONS_INIT;
        options.url = argv[2];
        options.request_compression = CHS_COMPRESSION_NONE; /* as connect_rows.py */
        require(chs_http_open(&store, &options, &err));
        return store;
    }
    chs_embedded_options options = CHS_EMBEDDED_OPTIONS_INIT;
    options.library = argv[2];
    options.path = argv[3];
    require(chs_embedded_open(&store, &options, &err));
    return store;
}

static void make_table(chs_transport *store)
{
    require(chs_exec(store, "DROP TABLE IF EXISTS bench_rows", NULL, &err));
    require(chs_exec(store,
                     "CREATE TABLE bench_rows (workload LowCardinality(String), type UInt8, time "
                     "DateTime64(3, 'UTC'), stack_id FixedString(16), pool LowCardinality(String), "
                     "raw UInt64, value UInt64, samples UInt64) ENGINE = MergeTree ORDER BY "
                     "(workload, type, time, stack_id) SETTINGS "
                     "non_replicated_deduplication_window = 1000",
                     NULL, &err));
}

int main(int argc, char **argv)
{
    chs_column *columns[COLUMNS];
    chs_block *block;

    if (argc != 4 && argc != 5) {
        fputs("usage: store-rows embedded LIBRARY DIRECTORY BLOCKS | store-rows http URL BLOCKS\n",
              stderr);
        return 2;
    }
    unsigned long long blocks = strtoull(argv[argc - 1], NULL, 10);
    chs_transport *store = open_store(argv);
    make_table(store);
    make_names();
    require(chs_block_new(&block, NULL, &err));
    for (size_t i = 0; i < COLUMNS; i++)
        require(chs_block_add_column(&columns[i], block, names[i], types[i], &err));
    static rows made;
    double cpu = 0, wall = 0;
    for (unsigned long long i = 0; i < blocks; i++) {
        make_rows(&made, i * ROWS);
        double cpu_before = cpu_now(), wall_before = wall_now();
        write_block(store, block, columns, &made, i);
        cpu += cpu_now() - cpu_before;
        wall += wall_now() - wall_before;
    }
    printf("%llu %.6f %.6f\n", blocks * ROWS, wall, cpu);
    chs_block_free(block);
    chs_transport_close(store);
    return 0;
}
