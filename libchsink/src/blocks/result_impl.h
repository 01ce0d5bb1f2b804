/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded blocks: shared by reader.c (blocks), decode.c (columns) and result.c (access). */
#ifndef CHSINK_SRC_RESULT_H
#define CHSINK_SRC_RESULT_H

#include "blocks/buffer_impl.h"
#include "blocks/input_impl.h"
#include "blocks/type_impl.h"

/* One column. values holds uint64_t, int64_t, double or chs_bytes, by the type's family. */
typedef struct chs__values {
    char *name;
    chs__type type;
    uint64_t count; /* values */
    chs__buffer values;
    chs__buffer ends; /* uint64_t, of arrays */
    chs__buffer text; /* the bytes of strings, of dictionary keys */
    chs__buffer keys; /* chs_bytes, of dictionaries */
} chs__values;

struct chs_result {
    uint64_t rows;
    chs__values *columns;
    size_t column_count;
    uint64_t bytes; /* decoded memory so far */
    uint64_t max_bytes;
};

/* Decodes one column's data of result->rows rows; its name and type are set. */
int chs__decode_column(chs__input *input, chs_result *result, chs__values *column);

/* Frees the block's columns. */
void chs__result_reset(chs_result *result);

#endif
