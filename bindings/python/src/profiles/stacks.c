/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#define KINDS (JFR_FRAME_KERNEL + 1u)

/* Returns the number of slots of c->methods, one for each method and kind; the last ones are for
 * methods that the pool does not have. */
static size_t method_slots(const stack_cache *c)
{
    return ((size_t)c->method_count + 1) * KINDS;
}

static void free_methods(stack_cache *c)
{
    for (size_t i = 0; c->methods != NULL && i < method_slots(c); i++)
        free(c->methods[i].name);
    free(c->methods);
    c->methods = NULL;
}

bool stack_cache_begin(stack_cache *c, jfr_chunk *chunk)
{
    free_methods(c);
    free(c->rows);
    c->chunk = chunk;
    c->stack_count = jfr_chunk_get_info(chunk)->stack_count;
    c->method_count = jfr_chunk_get_info(chunk)->method_count;
    /* Pages from calloc use no memory until they are touched. */
    c->rows = calloc((size_t)c->stack_count + 1, sizeof(*c->rows));
    c->methods = calloc(method_slots(c), sizeof(*c->methods));
    return c->rows != NULL && c->methods != NULL;
}

void stack_cache_end(stack_cache *c)
{
    free_methods(c);
    free(c->rows);
    free(c->refs);
    free(c->ids);
    *c = (stack_cache){0};
}

/* ---- methods ---- */

static uint8_t kind_of(uint8_t kind)
{
    static const uint8_t kinds[KINDS] = {
        [JFR_FRAME_UNKNOWN] = SAGG_UNKNOWN, [JFR_FRAME_JAVA] = SAGG_JAVA,
        [JFR_FRAME_NATIVE] = SAGG_NATIVE,   [JFR_FRAME_JVM] = SAGG_JVM,
        [JFR_FRAME_KERNEL] = SAGG_KERNEL,
    };
    return kind < KINDS ? kinds[kind] : SAGG_UNKNOWN;
}

/* Returns "class.method", or only one of them when the other is missing. */
static char *join(const sagg_frame *frame)
{
    size_t size = frame->class_name.size + 1 + frame->method.size;
    char *name = malloc(size + 1);
    if (name == NULL)
        return NULL;
    size_t used = 0;
    if (frame->class_name.size > 0) {
        memcpy(name, frame->class_name.data, frame->class_name.size);
        used = frame->class_name.size;
        name[used++] = '.';
    }
    if (frame->method.size > 0)
        memcpy(name + used, frame->method.data, frame->method.size);
    name[used + frame->method.size] = '\0';
    return name;
}

static int learn(method_row *row, const jfr_frame *from, failure *f)
{
    sagg_frame given = {.class_name = {from->method->class_name.data, from->method->class_name.len},
                        .method = {from->method->name.data, from->method->name.len},
                        .kind = kind_of(from->kind)};
    sagg_frame frame;
    char *storage;
    sagg_error cause;
    if (sagg_frame_normalise(&frame, &storage, &given, SAGG_NORMALISE_V1, &cause) != 0)
        return failure_sagg(f, &cause);
    frame.line = 0;
    sagg_frame_hash(NULL, &row->frame_id, &frame);
    row->name = join(&frame);
    free(storage);
    return row->name != NULL ? 0 : failure_nomem(f);
}

static uint32_t slot_of(const stack_cache *c, const jfr_frame_ref *ref)
{
    uint32_t method = ref->method < c->method_count ? ref->method : c->method_count;
    return method * KINDS + (ref->kind < KINDS ? ref->kind : 0);
}

/* Finds a method's slot. Returns 1 with it, 0 when the method is damaged, -1 on failure. */
static int find_method(stack_cache *c, const jfr_frame_ref *ref, uint32_t *slot, failure *f)
{
    jfr_frame frame = {0};
    jfr_error cause;
    *slot = slot_of(c, ref);
    if (c->methods[*slot].name != NULL)
        return 1;
    int rc = jfr_chunk_frame(c->chunk, ref, &frame, &cause);
    if (rc < 0)
        return rc == JFR_ERR_NOMEM ? failure_jfr(f, &cause) : 0;
    return learn(&c->methods[*slot], &frame, f) == 0 ? 1 : -1;
}

/* ---- stacks ---- */

static bool make_room(stack_cache *c, uint32_t count)
{
    uint32_t room = count < 256 ? 256 : count * 2;
    free(c->refs);
    free(c->ids);
    c->refs = calloc(room, sizeof(*c->refs));
    c->ids = malloc(room * sizeof(*c->ids));
    c->room = c->refs != NULL && c->ids != NULL ? room : 0;
    return c->room > 0;
}

/* Decodes a stack. Returns 1 with it in c->refs, 0 when it is damaged, -1 on failure. */
static int decode(stack_cache *c, uint32_t stack, jfr_stack_ref *out, failure *f)
{
    jfr_error cause;
    for (;;) {
        int rc = jfr_chunk_stack_refs(c->chunk, stack, c->refs, c->room, out, &cause);
        if (rc < 0)
            return rc == JFR_ERR_NOMEM ? failure_jfr(f, &cause) : 0;
        if (out->frame_count <= c->room)
            return 1;
        if (!make_room(c, out->frame_count))
            return failure_nomem(f);
    }
}

/* Fills a stack's row with its id. By docs/formats/stack-id.md, a frame's id is its method's id
 * plus the line, mod 2^64. */
static int fill_row(stack_cache *c, uint32_t stack, stack_row *row, failure *f)
{
    jfr_stack_ref ref = {0};
    sagg_error cause;
    int rc = decode(c, stack, &ref, f);
    for (uint32_t i = 0; rc == 1 && i < ref.frame_count; i++) {
        uint32_t slot;
        rc = find_method(c, &c->refs[i], &slot, f);
        if (rc != 1)
            break;
        c->ids[i] = c->methods[slot].frame_id + c->refs[i].line;
    }
    if (rc < 0)
        return -1;
    row->known = true;
    if (rc == 0)
        return 0;
    row->good = true;
    if (sagg_stack_id_of_frame_ids(&row->id, c->ids, ref.frame_count, SAGG_NORMALISE_V1, &cause) !=
        0)
        return failure_sagg(f, &cause);
    return 0;
}

const stack_row *stack_cache_row(stack_cache *c, uint32_t stack, failure *f)
{
    stack_row *row = &c->rows[stack < c->stack_count ? stack : c->stack_count];
    if (!row->known && stack < c->stack_count && fill_row(c, stack, row, f) != 0)
        return NULL;
    return row;
}

int stack_cache_leaf(stack_cache *c, uint32_t stack, const char **name, failure *f)
{
    jfr_stack_ref ref = {0};
    jfr_frame_ref leaf;
    jfr_error cause;
    uint32_t slot;
    if (stack >= c->stack_count)
        return 0;
    int rc = jfr_chunk_stack_refs(c->chunk, stack, &leaf, 1, &ref, &cause);
    if (rc < 0)
        return rc == JFR_ERR_NOMEM ? failure_jfr(f, &cause) : 0;
    if (ref.frame_count == 0)
        return 0;
    rc = find_method(c, &leaf, &slot, f);
    if (rc == 1)
        *name = c->methods[slot].name;
    return rc;
}

/* Appends a name with '_' for line ends and for ';', which separates frames. */
static bool add_name(bytes *out, const char *name)
{
    size_t start = out->size;
    if (!bytes_add(out, name, strlen(name)))
        return false;
    for (size_t i = start; i < out->size; i++)
        if (out->data[i] == ';' || out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = '_';
    return true;
}

int stack_cache_text(stack_cache *c, uint32_t stack, bytes *out, failure *f)
{
    jfr_stack_ref ref = {0};
    int rc = stack < c->stack_count ? decode(c, stack, &ref, f) : 0;
    if (rc != 1)
        return rc;
    for (uint32_t i = ref.frame_count; rc == 1 && i-- > 0;) {
        uint32_t slot;
        rc = find_method(c, &c->refs[i], &slot, f);
        if (rc == 1 &&
            (!add_name(out, c->methods[slot].name) || (i > 0 && !bytes_add(out, ";", 1))))
            rc = failure_nomem(f);
    }
    return rc;
}
