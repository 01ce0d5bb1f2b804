/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the names of --events and --categories exist: a misspelt name must not look like an
 * event that did not happen. */
#ifndef HOTSTACK_CLI_JFR_FILTER_H
#define HOTSTACK_CLI_JFR_FILTER_H

#include <base/near_miss.h>
#include <jfr/jfr.h>
#include <stdbool.h>

typedef struct filter_name {
    char *text;
    bool found; /* some chunk has a type with that name */
    near_miss near;
} filter_name;

/* The names that one option lists. */
typedef struct filter_names {
    filter_name *names;
    size_t count;
    bool categories;
} filter_names;

/* Splits `list` (NULL = none) at its commas. Returns false without memory; free it in any case. */
bool filter_names_begin(filter_names *out, const char *list, bool categories);
/* Looks for each name among a chunk's types. Returns 0, or the code of jfr_chunk_types. */
int filter_names_look(filter_names *names, jfr_chunk *chunk, jfr_error *err);
/* Complains about each name that no chunk had; returns how many there are. */
size_t filter_names_report(const filter_names *names, const char *path);
void filter_names_free(filter_names *names);

#endif
