/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"

static int compile(jfr_chunk *chunk, const jfr__type *type, jfr__plan *out, jfr_error *err)
{
    return jfr__plan_compile(out, &chunk->meta, type, NULL, 0, chunk->info.compressed,
                             chunk->file->options.max_metadata_depth, &chunk->arena, err);
}

int jfr__skip_of(jfr_chunk *chunk, uint32_t type, const jfr__plan **out, jfr_error *err)
{
    jfr__plan *plan = &chunk->generic->skips[type];
    *out = plan;
    return plan->ops == NULL ? compile(chunk, &chunk->meta.types[type], plan, err) : 0;
}

/* Skipping a struct of only those fields is the same as skipping the fields. */
int jfr__skip_fields(jfr_chunk *chunk, uint32_t type, uint32_t first, uint32_t count,
                     jfr__plan *out, jfr_error *err)
{
    jfr__type part = chunk->meta.types[type];
    part.first_field += first;
    part.field_count = count;
    return compile(chunk, &part, out, err);
}

static int undefined(const jfr_field *field, const jfr__cursor *c, jfr_error *err)
{
    return jfr__fail(err, JFR_ERR_FORMAT, jfr__cursor_offset(c),
                     "Field %.*s of the chunk's metadata has a type that is not defined.",
                     (int)(field->name.len < 64 ? field->name.len : 64), field->name.data);
}

int jfr__skip_value(jfr_chunk *chunk, const jfr_field *field, bool element, jfr__cursor *c,
                    jfr_error *err)
{
    uint32_t count = field->is_array && !element ? jfr__read_count(c) : 1;
    const jfr__plan *plan = NULL;
    if (!field->is_constant) {
        int rc = field->type != JFR_NONE ? jfr__skip_of(chunk, field->type, &plan, err)
                                         : undefined(field, c, err);
        if (rc < 0)
            return rc;
        if (plan->count == 0)
            count = 0; /* a struct without fields takes no bytes, however many there are */
    }
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        if (plan != NULL)
            jfr__plan_run(plan, c, NULL);
        else
            (void)jfr__read_long(c);
    }
    return c->failed ? jfr__bad_value(jfr__cursor_offset(c), err) : 0;
}
