/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum column_kind column_kind_join(enum column_kind a, enum column_kind b)
{
    enum column_kind low = a < b ? a : b;
    enum column_kind high = a < b ? b : a;
    if (low == high)
        return low;
    if (low == COLUMN_BOOL && high == COLUMN_INT)
        return COLUMN_INT;
    if (low == COLUMN_INT && high == COLUMN_DOUBLE)
        return COLUMN_DOUBLE;
    return COLUMN_TEXT;
}

/* ---- bytes ---- */

bool bytes_reserve(bytes *b, size_t more)
{
    if (more <= b->room - b->size)
        return true;
    size_t room = b->room < 1024 ? 1024 : b->room * 2;
    while (room - b->size < more) {
        if (room > SIZE_MAX / 2)
            return false;
        room *= 2;
    }
    unsigned char *data = realloc(b->data, room);
    if (data == NULL)
        return false;
    b->data = data;
    b->room = room;
    return true;
}

bool bytes_add(bytes *b, const void *data, size_t size)
{
    if (!bytes_reserve(b, size))
        return false;
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){0};
}

/* ---- columns ---- */

/* Adds one bit after the `at` bits that are there, least significant first. */
static bool add_bit(bytes *b, int64_t at, bool bit)
{
    if (at % 8 == 0 && !bytes_add(b, "", 1))
        return false;
    if (bit)
        b->data[b->size - 1] |= (unsigned char)(1u << (at % 8));
    return true;
}

/* Adds `count` bits that are set, as add_bit does: first those that the last byte has room for. */
static bool add_ones(bytes *b, int64_t at, int64_t count)
{
    for (; count > 0 && at % 8 != 0; at++, count--)
        b->data[b->size - 1] |= (unsigned char)(1u << (at % 8));
    size_t size = (size_t)(count + 7) / 8;
    if (size == 0)
        return true;
    if (!bytes_reserve(b, size))
        return false;
    memset(b->data + b->size, 0xFF, size);
    b->size += size;
    if (count % 8 != 0)
        b->data[b->size - 1] = (unsigned char)((1u << (count % 8)) - 1);
    return true;
}

bool column_mark_rows(column *c, size_t count)
{
    if (!add_ones(&c->validity, c->rows, (int64_t)count))
        return false;
    c->rows += (int64_t)count;
    return true;
}

/* Makes the bitmap for the rows before the first null; a column without nulls has none. */
static bool begin_validity(column *c)
{
    return add_ones(&c->validity, 0, c->rows);
}

bool column_add_null(column *c)
{
    static const int64_t zero = 0;
    if (c->nulls == 0 && !begin_validity(c))
        return false;
    bool done = c->kind == COLUMN_BOOL
                    ? add_bit(&c->values, c->rows, false)
                    : bytes_add(&c->values, &zero, c->kind == COLUMN_TEXT ? 4 : 8);
    if (!done || !add_bit(&c->validity, c->rows, false))
        return false;
    c->nulls++;
    c->rows++;
    return true;
}

bool column_add_bool(column *c, bool value)
{
    return add_bit(&c->values, c->rows, value) && column_end_row(c);
}

static bool begin_words(column *c)
{
    static const int32_t zero = 0;
    return c->offsets.size > 0 || bytes_add(&c->offsets, &zero, 4);
}

static bool append_word(column *c, const char *data, size_t size)
{
    if (size > INT32_MAX - c->text.size || !bytes_add(&c->text, data, size))
        return false;
    int32_t end = (int32_t)c->text.size;
    if (!bytes_add(&c->offsets, &end, 4))
        return false;
    c->words++;
    return true;
}

static bool is_word(const column *c, uint32_t code, const char *data, size_t size)
{
    int32_t span[2];
    memcpy(span, c->offsets.data + (size_t)code * 4, sizeof(span));
    return (size_t)(span[1] - span[0]) == size &&
           (size == 0 || memcmp(c->text.data + span[0], data, size) == 0);
}

/* Returns the slot of a string, or the free slot for it. */
static uint32_t *find_slot(const column *c, const char *data, size_t size)
{
    uint32_t at = (uint32_t)XXH3_64bits(data, size);
    for (;; at++) {
        uint32_t *slot = &c->slots[at & (c->slot_count - 1)];
        if (*slot == 0 || is_word(c, *slot - 1, data, size))
            return slot;
    }
}

static bool grow_slots(column *c)
{
    uint32_t count = c->slot_count == 0 ? 64 : c->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    free(c->slots);
    c->slots = slots;
    c->slot_count = count;
    for (uint32_t code = 0; code < c->words; code++) {
        int32_t span[2];
        memcpy(span, c->offsets.data + (size_t)code * 4, sizeof(span));
        *find_slot(c, (const char *)c->text.data + span[0], (size_t)(span[1] - span[0])) = code + 1;
    }
    return true;
}

bool column_word(column *c, const char *data, size_t size, uint32_t *code)
{
    static const char nothing[] = "";
    const char *text = size > 0 ? data : nothing;
    if (!begin_words(c) || !bytes_reserve(&c->text, 1))
        return false;
    if (c->words >= c->slot_count / 2 && !grow_slots(c))
        return false;
    uint32_t *slot = find_slot(c, text, size);
    if (*slot == 0) {
        if (!append_word(c, text, size))
            return false;
        *slot = c->words;
    }
    *code = *slot - 1;
    return true;
}

/* ---- tables ---- */

bool table_init(table *t, size_t count)
{
    t->count = count;
    t->columns = calloc(count + 1, sizeof(*t->columns));
    return t->columns != NULL;
}

bool table_name(table *t, size_t index, const char *name, enum column_kind kind)
{
    t->columns[index].name = strdup(name);
    t->columns[index].kind = kind;
    return t->columns[index].name != NULL;
}

void column_empty(column *c)
{
    bytes_free(&c->packed);
    c->width = 0;
    c->packed_rows = 0;
    bytes_free(&c->values);
    bytes_free(&c->validity);
    bytes_free(&c->text);
    bytes_free(&c->offsets);
    c->rows = c->nulls = 0;
    c->words = 0;
    free(c->slots);
    c->slots = NULL;
    c->slot_count = 0;
}

void table_free(table *t)
{
    for (size_t i = 0; t->columns != NULL && i < t->count; i++) {
        column_empty(&t->columns[i]);
        free(t->columns[i].name);
    }
    free(t->columns);
    *t = (table){0};
}

/* ---- arrays ---- */

/* The memory that an exported array owns apart from its children. */
typedef struct owned {
    void *buffers[3];
} owned;

/* Frees a child, unless it was moved away or never made. */
static void free_array(struct ArrowArray *child)
{
    if (child != NULL && child->release != NULL)
        child->release(child);
    free(child);
}

static void release_array(struct ArrowArray *array)
{
    owned *own = array->private_data;
    for (int64_t i = 0; array->children != NULL && i < array->n_children; i++)
        free_array(array->children[i]);
    free(array->children);
    free_array(array->dictionary);
    for (int i = 0; i < 3; i++)
        free(own->buffers[i]);
    free(own);
    array->release = NULL;
}

static int new_array(struct ArrowArray *out, int64_t length, int64_t nulls, int64_t buffers)
{
    *out = (struct ArrowArray){.length = length, .null_count = nulls, .n_buffers = buffers};
    owned *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return ENOMEM;
    out->private_data = own;
    /* The interface wants pointers to const void; the array has pointers to void. */
    out->buffers = (const void **)(void *)own->buffers;
    out->release = release_array;
    return 0;
}

/* Returns the buffer's memory and gives up its ownership. */
static void *take(bytes *b)
{
    void *data = b->data;
    *b = (bytes){0};
    return data;
}

/* Gives an empty column a buffer, because some readers want one. */
static bool has_memory(bytes *b)
{
    return b->data != NULL || bytes_reserve(b, 1);
}

static int finish_words(column *c, struct ArrowArray *out)
{
    if (!begin_words(c) || !has_memory(&c->text))
        return ENOMEM;
    int rc = new_array(out, c->words, 0, 3);
    if (rc != 0)
        return rc;
    owned *own = out->private_data;
    own->buffers[1] = take(&c->offsets);
    own->buffers[2] = take(&c->text);
    return 0;
}

static int finish_column(column *c, struct ArrowArray *out)
{
    if (!has_memory(&c->values))
        return ENOMEM;
    int rc = new_array(out, c->rows, c->nulls, 2);
    if (rc != 0)
        return rc;
    if (c->kind == COLUMN_TEXT) {
        out->dictionary = calloc(1, sizeof(*out->dictionary));
        rc = out->dictionary != NULL ? finish_words(c, out->dictionary) : ENOMEM;
    }
    if (rc != 0) {
        release_array(out);
        return rc;
    }
    owned *own = out->private_data;
    own->buffers[0] = take(&c->validity);
    own->buffers[1] = take(&c->values);
    column_empty(c);
    return 0;
}

int table_finish(table *t, struct ArrowArray *out)
{
    int rc = new_array(out, table_rows(t), 0, 1);
    if (rc != 0)
        return rc;
    t->bare_rows = 0;
    out->children = calloc(t->count + 1, sizeof(struct ArrowArray *));
    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        struct ArrowArray *child =
            out->children != NULL ? calloc(1, sizeof(struct ArrowArray)) : NULL;
        if (child == NULL) {
            rc = ENOMEM;
            break;
        }
        out->children[out->n_children++] = child;
        rc = finish_column(&t->columns[i], child);
    }
    if (rc != 0)
        release_array(out);
    return rc;
}

/* ---- schemas ---- */

static void free_schema(struct ArrowSchema *child)
{
    if (child != NULL && child->release != NULL)
        child->release(child);
    free(child);
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children != NULL && i < schema->n_children; i++)
        free_schema(schema->children[i]);
    free(schema->children);
    free_schema(schema->dictionary);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static int new_schema(struct ArrowSchema *out, const char *format, const char *name)
{
    char *copy = strdup(name);
    *out = (struct ArrowSchema){.format = format,
                                .name = copy,
                                .flags = 2, /* ARROW_FLAG_NULLABLE */
                                .release = release_schema,
                                .private_data = copy};
    return copy != NULL ? 0 : ENOMEM;
}

static int column_schema(const column *c, struct ArrowSchema *out)
{
    static const char *const formats[] = {
        [COLUMN_BOOL] = "b",   [COLUMN_INT] = "l",        [COLUMN_UINT] = "L",
        [COLUMN_DOUBLE] = "g", [COLUMN_TIME] = "tsn:UTC", [COLUMN_SPAN] = "tDn",
        [COLUMN_TEXT] = "i",
    };
    int rc = new_schema(out, formats[c->kind], c->name);
    if (rc != 0 || c->kind != COLUMN_TEXT)
        return rc;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    return out->dictionary != NULL ? new_schema(out->dictionary, "u", "") : ENOMEM;
}

int table_schema(const table *t, struct ArrowSchema *out)
{
    int rc = new_schema(out, "+s", "");
    out->flags = 0;
    out->children = rc == 0 ? calloc(t->count + 1, sizeof(struct ArrowSchema *)) : NULL;
    if (out->children == NULL)
        rc = ENOMEM;
    for (size_t i = 0; rc == 0 && i < t->count; i++) {
        struct ArrowSchema *child = calloc(1, sizeof(*child));
        if (child == NULL) {
            rc = ENOMEM;
            break;
        }
        out->children[out->n_children++] = child;
        rc = column_schema(&t->columns[i], child);
    }
    if (rc != 0)
        release_schema(out);
    return rc;
}

int schema_copy(const struct ArrowSchema *from, struct ArrowSchema *out)
{
    int rc = new_schema(out, from->format, from->name);
    out->flags = from->flags;
    if (rc == 0 && from->dictionary != NULL) {
        out->dictionary = calloc(1, sizeof(*out->dictionary));
        rc = out->dictionary != NULL ? schema_copy(from->dictionary, out->dictionary) : ENOMEM;
    }
    if (rc == 0)
        out->children = calloc((size_t)from->n_children + 1, sizeof(struct ArrowSchema *));
    if (out->children == NULL)
        rc = ENOMEM;
    for (int64_t i = 0; rc == 0 && i < from->n_children; i++) {
        struct ArrowSchema *child = calloc(1, sizeof(*child));
        if (child == NULL) {
            rc = ENOMEM;
            break;
        }
        out->children[out->n_children++] = child;
        rc = schema_copy(from->children[i], child);
    }
    if (rc != 0 && out->release != NULL)
        release_schema(out);
    return rc;
}
