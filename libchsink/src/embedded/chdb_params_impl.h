/* SPDX-License-Identifier: Apache-2.0 */
/* Query parameters as chDB takes them: parallel arrays. */
#ifndef CHSINK_SRC_CHDB_PARAMS_H
#define CHSINK_SRC_CHDB_PARAMS_H

#include <chsink/transport.h>

#include "blocks/buffer_impl.h"

/* names are borrowed from the call; values lie in text. Zero-initialise, free with the _free. */
typedef struct chs__chdb_params {
    const char **names;
    size_t *name_lengths;
    const char **values;
    size_t *value_lengths;
    chs__buffer text;
} chs__chdb_params;

/* 0 or CHS_ERR_NO_MEMORY. out is to be freed on failure too. */
int chs__chdb_params_make(chs__chdb_params *out, const chs_call *call, chs_error *err);

void chs__chdb_params_free(chs__chdb_params *params);

#endif
