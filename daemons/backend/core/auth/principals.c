/* SPDX-License-Identifier: Apache-2.0 */
#include "principals.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct principals {
    atomic_uint references;
    size_t count;
    principal **all;
};

principals *principals_new(void)
{
    principals *set = calloc(1, sizeof(*set));

    if (set != NULL)
        atomic_init(&set->references, 1);
    return set;
}

static void free_list(const char *const *list, size_t count)
{
    for (size_t i = 0; i < count && list != NULL; i++)
        free((char *)(uintptr_t)list[i]);
    free((void *)(uintptr_t)list);
}

static void free_principal(principal *one)
{
    char *token = (char *)(uintptr_t)one->token;

    if (token != NULL)
        explicit_bzero(token, strlen(token));
    free(token);
    free((char *)(uintptr_t)one->name);
    free_list(one->scope.clusters, one->scope.cluster_count);
    free_list(one->scope.namespaces, one->scope.namespace_count);
    free_list(one->scope.workloads, one->scope.workload_count);
    free(one);
}

/* Copies a list; returns false without memory, and the caller must free *out then, too. */
static bool copy_list(const char *const **out, const char *const *list, size_t count)
{
    const char **copy = calloc(count + 1, sizeof(*copy));

    *out = copy;
    for (size_t i = 0; i < count && copy != NULL; i++) {
        copy[i] = strdup(list[i]);
        if (copy[i] == NULL)
            return false;
    }
    return copy != NULL;
}

int principals_add(principals *set, const principal *from)
{
    principal **all = realloc(set->all, (set->count + 1) * sizeof(*all));
    principal *one = calloc(1, sizeof(*one));

    if (all != NULL)
        set->all = all;
    if (all == NULL || one == NULL) {
        free(one);
        return -1;
    }
    *one = *from;
    one->set = set;
    one->name = strdup(from->name);
    one->token = strdup(from->token);
    const scope *s = &from->scope;
    bool copied = copy_list(&one->scope.clusters, s->clusters, s->cluster_count);
    copied = copy_list(&one->scope.namespaces, s->namespaces, s->namespace_count) && copied;
    copied = copy_list(&one->scope.workloads, s->workloads, s->workload_count) && copied;
    if (!copied || one->name == NULL || one->token == NULL) {
        free_principal(one);
        return -1;
    }
    set->all[set->count++] = one;
    return 0;
}

size_t principals_count(const principals *set)
{
    return set->count;
}

const principal *principals_get(const principals *set, size_t index)
{
    return set->all[index];
}

/*
 * Whether two texts are equal, in a time that depends only on the length of the given one: as many
 * bytes of secret are read as given has, whatever they are.
 */
static bool equal_secret(const char *secret, const char *given, size_t length)
{
    size_t secret_length = strlen(secret);
    unsigned difference = secret_length == length ? 0 : 1;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)secret[secret_length > 0 ? i % secret_length : 0];
        difference |= (unsigned)(byte ^ (unsigned char)given[i]);
    }
    return difference == 0 && length > 0;
}

const principal *principals_find(const principals *set, const char *token, size_t length)
{
    const principal *found = NULL;

    for (size_t i = 0; i < set->count; i++) {
        if (equal_secret(set->all[i]->token, token, length) && found == NULL)
            found = set->all[i];
    }
    return found;
}

principals *principals_hold(principals *set)
{
    atomic_fetch_add(&set->references, 1);
    return set;
}

void principals_release(principals *set)
{
    if (set == NULL || atomic_fetch_sub(&set->references, 1) > 1)
        return;
    for (size_t i = 0; i < set->count; i++)
        free_principal(set->all[i]);
    free(set->all);
    free(set);
}

const principal *principal_hold(const principal *one)
{
    (void)principals_hold(one->set);
    return one;
}

void principal_release(const principal *one)
{
    if (one != NULL)
        principals_release(one->set);
}
