/* SPDX-License-Identifier: Apache-2.0 */
#include "copies.h"

#include <stdlib.h>
#include <string.h>

#include <contract/intern.h>

void *copies_take(copies *c, size_t bytes)
{
    if (array_reserve((void **)&c->blocks, &c->room, c->count, sizeof(*c->blocks)) != 0)
        return NULL;
    void *block = calloc(1, bytes + 1);

    if (block != NULL)
        c->blocks[c->count++] = block;
    return block;
}

int copies_keep(copies *c, text *value)
{
    char *copy = copies_take(c, value->length);

    if (copy == NULL)
        return -1;
    if (value->length > 0)
        memcpy(copy, value->data, value->length);
    value->data = copy;
    return 0;
}

void copies_free(copies *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->blocks[i]);
    free(c->blocks);
    *c = (copies){NULL, 0, 0};
}
