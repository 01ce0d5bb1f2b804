/* SPDX-License-Identifier: Apache-2.0 */
/* Query parameters in the form of chDB: parallel arrays. */
#ifndef CHSINK_SRC_CHDB_PARAMS_H
#define CHSINK_SRC_CHDB_PARAMS_H

#include <chsink/transport.h>

#include "blocks/buffer_impl.h"

/* The arrays. names are borrowed from the call; values point into text. Zero-initialise, free with
 * chs__chdb_params_free. */
typedef struct chs__chdb_params {
    const char **names;
    size_t *name_lengths;
    const char **values;
    size_t *value_lengths;
    chs__buffer text;
} chs__chdb_params;

/* Makes the arrays. Returns 0 or CHS_ERR_NO_MEMORY; free out on failure too. */
int chs__chdb_params_make(chs__chdb_params *out, const chs_call *call, chs_error *err);

void chs__chdb_params_free(chs__chdb_params *params);

#endif
