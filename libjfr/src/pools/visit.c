/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "events/generic_impl.h"

#include <inttypes.h>
#include <string.h>

/* The constants that contain the current value, innermost first. A constant inside itself is given
 * as null. */
struct trail {
    const struct trail *outer;
    uint32_t type;
    uint32_t constant;
};

struct walk {
    jfr_chunk *chunk;
    jfr_visitor visitor; /* defaults filled in */
    uint64_t values_left;
    jfr_error *err;
};

/* The place of a value in the tree. */
struct place {
    const jfr_field *field;
    uint32_t index;
    uint32_t depth;
    const struct trail *trail;
};

static int show(struct walk *w, const struct place *at, const jfr_variant *value, jfr__cursor *c);

static bool is_within_itself(const struct trail *trail, const jfr_variant *value)
{
    for (; trail != NULL; trail = trail->outer) {
        if (trail->type == value->type && trail->constant == value->constant)
            return true;
    }
    return false;
}

static int show_fields(struct walk *w, const struct place *at, const jfr_variant *value,
                       jfr__cursor *c)
{
    const jfr_type *type = &w->chunk->generic->types[value->type];
    struct place inner = {.depth = at->depth + 1, .trail = at->trail};
    for (uint32_t i = 0; i < type->field_count; i++) {
        jfr_variant field;
        inner.field = &type->fields[i];
        inner.index = i;
        int rc =
            jfr__variant_read(w->chunk, inner.field, false, c, &w->chunk->scratch, &field, w->err);
        if (rc == 0)
            rc = show(w, &inner, &field, c);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int show_elements(struct walk *w, const struct place *at, const jfr_variant *value,
                         jfr__cursor *c)
{
    struct place inner = {.field = at->field, .depth = at->depth + 1, .trail = at->trail};
    for (uint32_t i = 0; i < value->count; i++) {
        jfr_variant element;
        inner.index = i;
        int rc = jfr__variant_read(w->chunk, value->elements, true, c, &w->chunk->scratch, &element,
                                   w->err);
        element.is_element = true;
        if (rc == 0)
            rc = show(w, &inner, &element, c);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Moves the cursor past a value that is not visited. */
static int pass_over(struct walk *w, const jfr_variant *value, jfr__cursor *c)
{
    if (value->kind == JFR_VARIANT_STRUCT) {
        const jfr__plan *plan = NULL;
        int rc = jfr__skip_of(w->chunk, value->type, &plan, w->err);
        if (rc < 0)
            return rc;
        jfr__plan_run(plan, c, NULL);
        return c->failed ? jfr__bad_value(jfr__cursor_offset(c), w->err) : 0;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        uint64_t before = jfr__cursor_offset(c);
        int rc = jfr__skip_value(w->chunk, value->elements, true, c, w->err);
        if (rc < 0)
            return rc;
        if (jfr__cursor_offset(c) == before)
            return 0; /* elements of 0 bytes: the other elements have none either */
    }
    return 0;
}

static int show_tree(struct walk *w, const struct place *at, const jfr_variant *value,
                     jfr__cursor *inside)
{
    int rc = value->kind == JFR_VARIANT_STRUCT ? show_fields(w, at, value, inside)
                                               : show_elements(w, at, value, inside);
    return rc < 0 ? rc : w->visitor.end(w->visitor.ctx, at->field, value);
}

/* Visits a struct or array. One in a constant pool has its own cursor. */
static int show_composite(struct walk *w, const struct place *at, const jfr_variant *value,
                          jfr__cursor *c)
{
    const jfr_visitor *v = &w->visitor;
    bool is_constant = value->constant != JFR_NONE;
    if (is_constant && is_within_itself(at->trail, value)) {
        const jfr_variant null = {
            .type = value->type, .constant = value->constant, .is_element = value->is_element};
        return v->scalar(v->ctx, at->field, at->index, &null);
    }
    jfr__cursor own = jfr__variant_cursor(w->chunk, value);
    jfr__cursor *inside = is_constant ? &own : c;
    if (at->depth >= v->max_depth) {
        jfr_variant cut = *value;
        cut.kind = JFR_VARIANT_CUT;
        int rc = v->scalar(v->ctx, at->field, at->index, &cut);
        return rc < 0 || is_constant ? rc : pass_over(w, value, inside);
    }
    int rc = v->begin(v->ctx, at->field, at->index, value);
    if (rc != 0)
        return rc < 0 || is_constant ? (rc < 0 ? rc : 0) : pass_over(w, value, inside);
    const struct trail trail = {at->trail, value->type, value->constant};
    struct place inner = *at;
    inner.trail = is_constant ? &trail : at->trail;
    return show_tree(w, &inner, value, inside);
}

static int show(struct walk *w, const struct place *at, const jfr_variant *value, jfr__cursor *c)
{
    if (w->values_left-- == 0)
        return jfr__fail(w->err, JFR_ERR_LIMIT, jfr__cursor_offset(c),
                         "A value holds more values than jfr_visitor.max_values (%" PRIu64 ").",
                         w->visitor.max_values);
    if (value->kind == JFR_VARIANT_STRUCT || value->kind == JFR_VARIANT_ARRAY)
        return show_composite(w, at, value, c);
    return w->visitor.scalar(w->visitor.ctx, at->field, at->index, value);
}

/* Recursion follows the depth, so callers cannot raise the limit to where the stack would overflow.
 */
enum { DEPTH_CEILING = 4096 };

static int take_visitor(jfr_visitor *out, const jfr_visitor *given, jfr_error *err)
{
    bool whole = given->size == sizeof(*out);
    if (whole)
        *out = *given;
    if (!whole || out->begin == NULL || out->end == NULL || out->scalar == NULL ||
        out->reserved != 0 || out->max_depth > DEPTH_CEILING)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_visitor must start from JFR_VISITOR_INIT and set begin, end and "
                         "scalar; max_depth may be %d at most.",
                         DEPTH_CEILING);
    if (out->max_depth == 0)
        out->max_depth = 1024;
    if (out->max_values == 0)
        out->max_values = 1000000;
    return 0;
}

int jfr_variant_visit(jfr_chunk *chunk, const jfr_variant *root, const jfr_visitor *visitor,
                      jfr_error *err)
{
    struct walk w = {.chunk = chunk, .err = err};
    jfr__generic *g = NULL;
    int rc = take_visitor(&w.visitor, visitor, err);
    if (rc == 0)
        rc = jfr__generic_get(chunk, &g, err);
    if (rc < 0)
        return rc;
    jfr__arena_reset(&chunk->scratch);
    w.values_left = w.visitor.max_values;
    bool composite = root->kind == JFR_VARIANT_STRUCT || root->kind == JFR_VARIANT_ARRAY;
    jfr__cursor c = composite ? jfr__variant_cursor(chunk, root)
                              : jfr__chunk_cursor(chunk, chunk->info.offset, chunk->end);
    const struct place at = {.field = NULL};
    return show(&w, &at, root, &c);
}
