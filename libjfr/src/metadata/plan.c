/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/plan_impl.h"

#include "error_impl.h"
#include "read/text_impl.h"

#include <jfr/sample.h>
#include <string.h>

/* No valid type has more nested fields. The number of fields grows exponentially when structs nest
 * several structs each, even with few ops or bytes, since structs can be empty. */
enum { MAX_FIELDS = 4096, MAX_OPS = MAX_FIELDS };

struct compiler {
    const jfr__metadata *meta;
    const jfr__want *wants;
    size_t want_count;
    bool compressed;
    uint32_t max_depth;
    jfr_error *err;
    uint32_t count;
    uint32_t fields; /* fields so far */
    bool barrier; /* the next op begins an array's body, so it must not be merged with the previous
                     op */
    jfr__op ops[MAX_OPS];
};

/* Returns the slot, or JFR__SKIP if the op's value is not of the slot's kind. */
static uint8_t fitting_slot(const struct compiler *k, uint8_t code, uint8_t slot)
{
    jfr__want_kind kind = code == JFR__OP_STRING  ? JFR__WANT_STRING
                          : code == JFR__OP_ARRAY ? JFR__WANT_ARRAY
                                                  : JFR__WANT_INTEGER;
    for (size_t i = 0; i < k->want_count; i++) {
        if (k->wants[i].slot == slot)
            return k->wants[i].kind == kind ? slot : JFR__SKIP;
    }
    return JFR__SKIP;
}

static int too_many(const struct compiler *k)
{
    return jfr__fail(k->err, JFR_ERR_FORMAT, 0,
                     "A type of the chunk's metadata has more than %d nested fields.", MAX_FIELDS);
}

static int push(struct compiler *k, uint8_t code, uint8_t slot, uint32_t n)
{
    slot = fitting_slot(k, code, slot);
    jfr__op *last = k->count > 0 && !k->barrier ? &k->ops[k->count - 1] : NULL;
    bool melts = code == JFR__OP_VARINT || code == JFR__OP_FIXED;
    if (last != NULL && melts && slot == JFR__SKIP && last->slot == JFR__SKIP &&
        last->code == code) {
        last->n += n;
        return 0;
    }
    if (k->count == MAX_OPS)
        return too_many(k);
    k->ops[k->count++] = (jfr__op){code, slot, n};
    k->barrier = false;
    return 0;
}

static int push_integer(struct compiler *k, uint8_t slot, uint32_t width)
{
    if (k->compressed)
        return push(k, JFR__OP_VARINT, slot, 1);
    return push(k, JFR__OP_FIXED, slot, width);
}

static int compile_type(struct compiler *k, const jfr__type *type, uint8_t slot, uint32_t depth);

static int compile_value(struct compiler *k, const jfr__field *f, uint8_t slot, uint32_t depth)
{
    if (f->constant_pool)
        return push_integer(k, slot, 8);
    if (f->type == JFR_NONE)
        return jfr__fail(k->err, JFR_ERR_FORMAT, 0,
                         "Field %.*s of the chunk's metadata has a type that is not defined.",
                         (int)(f->name.len < 64 ? f->name.len : 64), f->name.data);
    return compile_type(k, &k->meta->types[f->type], slot, depth);
}

static int compile_field(struct compiler *k, const jfr__field *f, uint8_t slot, uint32_t depth)
{
    if (k->fields++ == MAX_FIELDS)
        return too_many(k);
    if (!f->array)
        return compile_value(k, f, slot, depth);
    uint32_t at = k->count;
    int rc = push(k, JFR__OP_ARRAY, slot, 0);
    if (rc < 0)
        return rc;
    k->barrier = true;
    rc = compile_value(k, f, JFR__SKIP, depth);
    k->barrier = true;
    k->ops[at].n = k->count - at - 1;
    return rc;
}

static uint8_t slot_of(const struct compiler *k, jfr_str name)
{
    for (size_t i = 0; i < k->want_count; i++) {
        if (jfr__str_is(name, k->wants[i].field))
            return k->wants[i].slot;
    }
    return JFR__SKIP;
}

static int compile_fields(struct compiler *k, const jfr__type *type, uint32_t depth)
{
    if (depth > k->max_depth)
        return jfr__fail(k->err, JFR_ERR_LIMIT, 0,
                         "Fields of the chunk's metadata nest deeper than max_metadata_depth (%u).",
                         k->max_depth);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const jfr__field *f = &k->meta->fields[type->first_field + i];
        uint8_t slot = depth == 1 ? slot_of(k, f->name) : JFR__SKIP;
        int rc = compile_field(k, f, slot, depth);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compile_type(struct compiler *k, const jfr__type *type, uint8_t slot, uint32_t depth)
{
    switch (type->shape) {
    case JFR__BOOLEAN:
    case JFR__BYTE:
        return push(k, JFR__OP_FIXED, slot, 1);
    case JFR__CHAR:
    case JFR__SHORT:
        return push_integer(k, slot, 2);
    case JFR__INT:
        return push_integer(k, slot, 4);
    case JFR__LONG:
        return push_integer(k, slot, 8);
    case JFR__FLOAT:
        return push(k, JFR__OP_FIXED, slot, 4);
    case JFR__DOUBLE:
        return push(k, JFR__OP_FIXED, slot, 8);
    case JFR__STRING:
        return push(k, JFR__OP_STRING, slot, 1);
    case JFR__STRUCT:
        break;
    }
    return compile_fields(k, type, depth + 1);
}

int jfr__plan_compile(jfr__plan *out, const jfr__metadata *meta, const jfr__type *type,
                      const jfr__want *wants, size_t want_count, bool compressed,
                      uint32_t max_depth, jfr__arena *arena, jfr_error *err)
{
    /* Not initialised as a whole, because the ops are 32 KB, of which few are used. */
    struct compiler k;
    k.meta = meta;
    k.wants = wants;
    k.want_count = want_count;
    k.compressed = compressed;
    k.max_depth = max_depth;
    k.err = err;
    k.count = 0;
    k.fields = 0;
    k.barrier = false;
    /* A wanted value of a type that is no struct (the pool of java.lang.String) is slot 0. */
    int rc = compile_type(&k, type, want_count > 0 ? wants[0].slot : JFR__SKIP, 0);
    if (rc < 0)
        return rc;
    jfr__op *ops = jfr__arena_alloc(arena, k.count * sizeof(*ops));
    if (ops == NULL)
        return jfr__arena_fail(arena, err);
    memcpy(ops, k.ops, k.count * sizeof(*ops));
    *out = (jfr__plan){ops, k.count};
    return 0;
}

static void run_array(const jfr__op *body, uint32_t body_count, jfr__cursor *c)
{
    uint32_t count = jfr__read_count(c);
    if (body_count == 0)
        return;
    if (body_count == 1 && body[0].code == JFR__OP_VARINT) {
        jfr__skip_varints(c, (uint64_t)count * body[0].n);
        return;
    }
    if (body_count == 1 && body[0].code == JFR__OP_FIXED) {
        jfr__skip_bytes(c, (uint64_t)count * body[0].n);
        return;
    }
    const jfr__plan plan = {body, body_count};
    for (uint32_t i = 0; i < count && !c->failed; i++)
        jfr__plan_run(&plan, c, NULL);
}

void jfr__plan_run(const jfr__plan *plan, jfr__cursor *c, uint64_t *slots)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const jfr__op *op = &plan->ops[i];
        bool wanted = slots != NULL && op->slot != JFR__SKIP;
        uint64_t value = jfr__cursor_offset(c);
        switch (op->code) {
        case JFR__OP_VARINT:
            if (wanted)
                value = jfr__varint(c);
            else
                jfr__skip_varints(c, op->n);
            break;
        case JFR__OP_FIXED:
            if (wanted)
                value = jfr__read_be(c, op->n);
            else
                jfr__skip_bytes(c, op->n);
            break;
        case JFR__OP_STRING:
            jfr__skip_string(c);
            break;
        default:
            run_array(op + 1, op->n, c);
            i += op->n;
        }
        if (wanted)
            slots[op->slot] = value;
    }
}
