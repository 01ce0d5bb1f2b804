/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts one block into a ClickHouse table and reads it back: ch-insert http://localhost:8123 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <chsink/chsink.h>

static chs_error err;

static void require(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", chs_code_name(rc), err.message);
    exit(EXIT_FAILURE);
}

static int print_block(void *context, const chs_result *block)
{
    chs_strings hosts;
    chs_uints loads;
    uint64_t row;

    (void)context;
    require(chs_result_strings(&hosts, block, "host", &err));
    require(chs_result_uints(&loads, block, "load", &err));
    for (row = 0; row < hosts.rows; row++)
        printf("%.*s %" PRIu64 "\n", (int)hosts.values[row].length, hosts.values[row].data,
               loads.values[row]);
    return 0;
}

/* The block's bytes must live as long as the block. */
static chs_block *make_block(chs_bytes *bytes)
{
    chs_block *block;
    chs_column *host, *load;

    require(chs_block_new(&block, NULL, &err));
    require(chs_block_add_column(&host, block, "host", "LowCardinality(String)", &err));
    require(chs_block_add_column(&load, block, "load", "UInt64", &err));
    (void)chs_append_bytes(host, "alpha", 5); /* chs_block_encode reports a failure */
    (void)chs_append_uint(load, 42);
    require(chs_block_encode(bytes, block, &err));
    return block;
}

int main(int argc, char **argv)
{
    static const char *const columns[] = {"host", "load"};
    chs_http_options options = CHS_HTTP_OPTIONS_INIT;
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;
    chs_transport *store;
    chs_block *block;

    options.url = argc > 1 ? argv[1] : "http://localhost:8123";
    options.user = getenv("CLICKHOUSE_USER");
    options.password = getenv("CLICKHOUSE_PASSWORD");
    require(chs_http_open(&store, &options, &err));
    require(chs_exec(store,
                     "CREATE TABLE IF NOT EXISTS ch_insert (host LowCardinality(String), load "
                     "UInt64) ENGINE = MergeTree ORDER BY host "
                     "SETTINGS non_replicated_deduplication_window = 100",
                     NULL, &err));
    block = make_block(&request.block);
    request.table = "ch_insert";
    request.columns = columns;
    request.column_count = 2;
    request.token = "example-1"; /* run it twice: still one row */
    require(chs_insert(store, &request, NULL, &err));
    require(chs_query(store, "SELECT host, load FROM ch_insert", NULL, print_block, NULL, &err));
    chs_block_free(block);
    chs_transport_close(store);
    return 0;
}
