/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "embedded/chdb_params_impl.h"
#include "sql_impl.h"

static int allocate(chs__chdb_params *out, size_t count, chs_error *err)
{
    out->names = calloc(count, sizeof *out->names);
    out->name_lengths = calloc(count, sizeof *out->name_lengths);
    out->values = calloc(count, sizeof *out->values);
    out->value_lengths = calloc(count, sizeof *out->value_lengths);
    if (out->names && out->name_lengths && out->values && out->value_lengths)
        return 0;
    return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for %zu query parameters", count);
}

int chs__chdb_params_make(chs__chdb_params *out, const chs_call *call, chs_error *err)
{
    size_t i, offset = 0;
    int rc;

    memset(out, 0, sizeof *out);
    if (!call->param_count)
        return 0;
    rc = allocate(out, call->param_count, err);
    for (i = 0; i < call->param_count && !rc; i++) {
        size_t before = out->text.length;

        rc = chs__param_text(&out->text, &call->params[i], err);
        out->names[i] = call->params[i].name;
        out->name_lengths[i] = strlen(call->params[i].name);
        out->value_lengths[i] = out->text.length - before;
    }
    for (i = 0; i < call->param_count && !rc; i++) {
        out->values[i] = out->text.data ? (const char *)out->text.data + offset : "";
        offset += out->value_lengths[i];
    }
    return rc;
}

void chs__chdb_params_free(chs__chdb_params *params)
{
    free(params->names);
    free(params->name_lengths);
    free(params->values);
    free(params->value_lengths);
    chs__buffer_free(&params->text);
}
