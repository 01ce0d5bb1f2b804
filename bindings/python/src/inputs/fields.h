/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the columns of a table of one event type in the metadata of all chunks. */
#ifndef HOTSTACK_FIELDS_H
#define HOTSTACK_FIELDS_H

#include "inputs.h"

#include "tables/arrow.h"

/* A column: the path of its values, and the kind that holds them in all chunks. */
typedef struct field_column {
    char *path;
    enum column_kind kind;
    bool met; /* some chunk has it */
} field_column;

typedef struct field_list {
    field_column *list;
    size_t count;
    size_t room;
    bool type_met;
} field_list;

/*
 * Finds the columns of a type: the given paths, or with NULL all of its fields that a path can
 * name, with structs expanded; these can be none. Returns 0 or -1; FAILURE_USAGE when no chunk has
 * the type or one of the given paths.
 */
int fields_find(field_list *out, inputs *in, const char *type, const char *const *paths,
                size_t count, failure *f);
void fields_free(field_list *l);

#endif
