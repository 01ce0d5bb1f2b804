/* SPDX-License-Identifier: Apache-2.0 */
/* Passes any text to the parser of query strings. */
#include <stdlib.h>
#include <string.h>

#include <http/query.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    http_query query;

    memcpy(text, data, size);
    text[size] = '\0';
    if (http_query_parse(&query, text, NULL) == 0) {
        for (size_t i = 0; i < query.count; i++) {
            if (http_query_get(&query, query.names[i]) != query.values[i])
                abort();
        }
    }
    http_query_clear(&query);
    free(text);
    return 0;
}
