/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/auth/principals.h: the tokens in force and what each allows, as one set that is never
 * changed once it is shared. New tokens come as a new set; the old one lives until the last call
 * that was admitted by it has ended. Thread rule: one thread fills a set; then any thread.
 */
#ifndef BACKEND_PRINCIPALS_H
#define BACKEND_PRINCIPALS_H

#include "store.h"

typedef enum role {
    ROLE_COLLECTOR, /* may ingest */
    ROLE_USER       /* may query */
} role;

typedef struct principals principals;

/* A token and what it allows. Two of one name: the old and the new token while it is rotated. */
typedef struct principal {
    const char *name;
    role role;
    const char *token;
    scope scope;
    principals *set; /* that it is one of */
} principal;

/* An empty set with one reference; NULL without memory. */
principals *principals_new(void);

/* Adds a copy; `from->set` is not looked at. 0, or -1 without memory. */
int principals_add(principals *set, const principal *from);

size_t principals_count(const principals *set);
const principal *principals_get(const principals *set, size_t index);

/*
 * The principal of a token, or NULL, in time that does not depend on where tokens differ: all are
 * compared, whichever matches. Borrowed from the set.
 */
const principal *principals_find(const principals *set, const char *token, size_t length);

/* References. The last release wipes and frees the set; it takes NULL. */
principals *principals_hold(principals *set);
void principals_release(principals *set);

/* The same by one of the set. */
const principal *principal_hold(const principal *one);
void principal_release(const principal *one);

#endif
