/* SPDX-License-Identifier: Apache-2.0 */
#include "store_fixture.h"

#include <string.h>

chs_transport *store;
chs_error err;

void store_setup(void)
{
    store = target_open();
}

void store_teardown(void)
{
    chs_transport_close(store);
}

void exec_all(const char *const *statements, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        OK(chs_exec(store, statements[i], NULL, &err));
}

int keep_answer(void *context, const chs_result *block)
{
    answer *kept = context;
    const char *name = chs_result_name(block, 0);
    chs_strings strings;
    chs_uints uints;

    if (chs_result_rows(block) && !kept->rows) {
        if (chs_result_uints(&uints, block, name, NULL) == 0) {
            kept->number = uints.values[0];
        } else if (chs_result_strings(&strings, block, name, NULL) == 0) {
            ck_assert_uint_lt(strings.values[0].length, sizeof kept->text);
            memcpy(kept->text, strings.values[0].data, strings.values[0].length);
            kept->text[strings.values[0].length] = '\0';
        }
    }
    kept->rows += chs_result_rows(block);
    return 0;
}

answer ask(const char *sql, const chs_call *call)
{
    answer kept = {0};

    OK(chs_query(store, sql, call, keep_answer, &kept, &err));
    return kept;
}

chs_block *make_block(uint64_t first, uint64_t count, chs_bytes *encoded)
{
    chs_block *block;
    chs_column *a, *s;
    uint64_t i;

    OK(chs_block_new(&block, NULL, &err));
    OK(chs_block_add_column(&a, block, "a", "UInt64", &err));
    OK(chs_block_add_column(&s, block, "s", "LowCardinality(String)", &err));
    for (i = first; i < first + count; i++) {
        (void)chs_append_uint(a, i);
        (void)chs_append_bytes(s, "abcdefgh", i % 8);
    }
    OK(chs_block_encode(encoded, block, &err));
    return block;
}

static const char *const block_columns[] = {"a", "s"};

int insert(const char *table, chs_bytes block, const char *token)
{
    chs_insert_request request = CHS_INSERT_REQUEST_INIT;

    request.table = table;
    request.columns = block_columns;
    request.column_count = 2;
    request.block = block;
    request.token = token;
    return chs_insert(store, &request, NULL, &err);
}
