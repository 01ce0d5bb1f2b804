/* SPDX-License-Identifier: Apache-2.0 */
#include "producer.h"

#include <stdlib.h>

/* Adds as many rows as a batch has. Returns the same as producer_grow. */
static int add_rows(producer *p, failure *f)
{
    if (producer_is_empty(p))
        p->text = 0;
    p->row_limit = table_rows(&p->rows) + BATCH_ROWS;
    p->text_limit = p->text + BATCH_TEXT;
    int rc = p->fill(p, f);
    if (rc < 0) {
        if (p->w.index < inputs_count(p->w.in))
            inputs_blame(p->w.in, p->w.index, f);
        return -1;
    }
    p->ended = rc == 0;
    return rc;
}

int producer_grow(producer *p, failure *f)
{
    int rc = p->ended ? 0 : add_rows(p, f);
    for (size_t i = 0; rc >= 0 && i < p->rows.count; i++)
        if (p->rows.columns[i].kind == COLUMN_TEXT && !column_pack(&p->rows.columns[i]))
            return failure_nomem(f);
    return rc;
}

int producer_next(producer *p, struct ArrowArray *out, failure *f)
{
    while (!p->ended && producer_is_empty(p))
        if (add_rows(p, f) < 0)
            return -1;
    if (producer_is_empty(p))
        return 0;
    return table_finish(&p->rows, out) == 0 ? 1 : failure_nomem(f);
}

void producer_free(producer *p)
{
    if (p == NULL)
        return;
    p->free(p);
    walk_end(&p->w);
    table_free(&p->rows);
    free(p);
}

/* ---- codes ---- */

bool codes_size(codes *c, uint32_t count)
{
    free(c->at);
    c->at = calloc((size_t)count + 1, sizeof(*c->at));
    c->count = c->at != NULL ? count : 0;
    c->used_count = 0;
    return c->at != NULL;
}

bool codes_set(codes *c, uint32_t index, uint32_t code)
{
    if (index >= c->count)
        return true;
    if (c->used_count == c->used_room) {
        uint32_t room = c->used_room == 0 ? 256 : c->used_room * 2;
        uint32_t *used = realloc(c->used, room * sizeof(*used));
        if (used == NULL)
            return false;
        c->used = used;
        c->used_room = room;
    }
    c->used[c->used_count++] = index;
    c->at[index] = code + 1;
    return true;
}

void codes_forget(codes *c)
{
    for (uint32_t i = 0; i < c->used_count; i++)
        c->at[c->used[i]] = 0;
    c->used_count = 0;
}

void codes_free(codes *c)
{
    free(c->at);
    free(c->used);
    *c = (codes){0};
}
