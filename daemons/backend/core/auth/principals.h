/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/principals.h: the tokens in force with their rights, as a set that does not change once
 * it is shared. New tokens make a new set; the old one lives until the last call admitted by it has
 * ended. Thread rule: one thread fills a set; then any thread may read it.
 */
#ifndef BACKEND_PRINCIPALS_H
#define BACKEND_PRINCIPALS_H

#include "store.h"

typedef enum role {
    ROLE_COLLECTOR, /* may ingest */
    ROLE_USER       /* may query */
} role;

typedef struct principals principals;

/* A token and its rights. Two with the same name are the old and the new token during a
 * rotation. */
typedef struct principal {
    const char *name;
    role role;
    const char *token;
    scope scope;
    principals *set; /* the set that contains it */
} principal;

/* Makes an empty set with one reference; NULL without memory. */
principals *principals_new(void);

/* Adds a copy; ignores `from->set`. Returns 0, or -1 without memory. */
int principals_add(principals *set, const principal *from);

size_t principals_count(const principals *set);
const principal *principals_get(const principals *set, size_t index);

/*
 * Returns the principal of a token, or NULL. All tokens are compared, so that the time does not
 * depend on where they differ. Borrowed from the set.
 */
const principal *principals_find(const principals *set, const char *token, size_t length);

/* Take and release a reference. The last release wipes and frees the set; NULL is allowed. */
principals *principals_hold(principals *set);
void principals_release(principals *set);

/* Do the same with one principal of the set. */
const principal *principal_hold(const principal *one);
void principal_release(const principal *one);

#endif
