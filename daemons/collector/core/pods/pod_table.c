/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_table.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    pod_object object;
    bool listed; /* contained in the current list */
} entry;

typedef struct kind_table {
    entry *entries;
    size_t count;
    size_t room;
    size_t max;
    bool known;
} kind_table;

struct pod_table {
    kind_table kinds[POD_KIND_END];
};

void pod_object_clear(pod_object *one)
{
    pod_clear(&one->pod);
    pod_namespace_clear(&one->space);
}

static const char *uid_of(const pod_object *one)
{
    return one->kind == POD_KIND_POD ? one->pod.uid : one->space.uid;
}

pod_table *pod_table_new(size_t max_pods, size_t max_namespaces)
{
    pod_table *table = calloc(1, sizeof(*table));
    if (table == NULL)
        return NULL;
    table->kinds[POD_KIND_POD].max = max_pods;
    table->kinds[POD_KIND_NAMESPACE].max = max_namespaces;
    return table;
}

void pod_table_free(pod_table *table)
{
    if (table == NULL)
        return;
    for (size_t kind = 0; kind < POD_KIND_END; kind++) {
        kind_table *from = &table->kinds[kind];
        for (size_t i = 0; i < from->count; i++)
            pod_object_clear(&from->entries[i].object);
        free(from->entries);
    }
    free(table);
}

static entry *find_entry(const kind_table *in, const char *uid)
{
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(uid_of(&in->entries[i].object), uid) == 0)
            return &in->entries[i];
    }
    return NULL;
}

static void drop_entry(kind_table *from, entry *one)
{
    pod_object_clear(&one->object);
    *one = from->entries[--from->count];
}

void pod_table_begin_list(pod_table *table, enum pod_kind kind)
{
    kind_table *in = &table->kinds[kind];
    for (size_t i = 0; i < in->count; i++)
        in->entries[i].listed = false;
}

void pod_table_end_list(pod_table *table, enum pod_kind kind)
{
    kind_table *in = &table->kinds[kind];
    for (size_t i = in->count; i > 0; i--) {
        if (!in->entries[i - 1].listed)
            drop_entry(in, &in->entries[i - 1]);
    }
    in->known = true;
}

static enum pod_put make_room(kind_table *in)
{
    if (in->count >= in->max)
        return POD_PUT_FULL;
    if (in->count < in->room)
        return POD_PUT_DONE;
    size_t room = in->room == 0 ? 16 : in->room * 2;
    entry *grown = realloc(in->entries, room * sizeof(*grown));
    if (grown == NULL)
        return POD_PUT_NO_MEMORY;
    in->entries = grown;
    in->room = room;
    return POD_PUT_DONE;
}

enum pod_put pod_table_put(pod_table *table, pod_object *one)
{
    kind_table *in = &table->kinds[one->kind];
    entry *found = find_entry(in, uid_of(one));
    /* A namespace without settings is not kept: it changes nothing for any pod, and a cluster has
     * thousands. */
    if (one->kind == POD_KIND_NAMESPACE && one->space.setting_count == 0 &&
        one->space.settings_dropped == 0) {
        if (found != NULL)
            drop_entry(in, found);
        pod_object_clear(one);
        return POD_PUT_DONE;
    }
    enum pod_put rc = found != NULL ? POD_PUT_DONE : make_room(in);
    if (rc != POD_PUT_DONE) {
        pod_object_clear(one);
        return rc;
    }
    if (found != NULL)
        pod_object_clear(&found->object);
    else
        found = &in->entries[in->count++];
    *found = (entry){.object = *one, .listed = true};
    *one = (pod_object){.kind = one->kind};
    return POD_PUT_DONE;
}

void pod_table_remove(pod_table *table, const pod_object *one)
{
    kind_table *in = &table->kinds[one->kind];
    entry *found = find_entry(in, uid_of(one));
    if (found != NULL)
        drop_entry(in, found);
}

bool pod_table_is_known(const pod_table *table, enum pod_kind kind)
{
    return table->kinds[kind].known;
}

static bool is_group_of(const pod *one, const char *pod_uid)
{
    return pod_uid[0] == '\0' || strcmp(one->uid, pod_uid) == 0 ||
           strcmp(one->config_hash, pod_uid) == 0;
}

const pod *pod_table_find(const pod_table *table, const char *container_id, const char *pod_uid,
                          const pod_container **container)
{
    const kind_table *in = &table->kinds[POD_KIND_POD];
    if (container_id[0] == '\0')
        return NULL;
    for (size_t i = 0; i < in->count; i++) {
        const pod *one = &in->entries[i].object.pod;
        if (!is_group_of(one, pod_uid))
            continue;
        for (size_t c = 0; c < one->container_count; c++) {
            if (strcmp(one->containers[c].id, container_id) == 0) {
                *container = &one->containers[c];
                return one;
            }
        }
    }
    return NULL;
}

const pod_namespace *pod_table_namespace(const pod_table *table, const char *name)
{
    const kind_table *in = &table->kinds[POD_KIND_NAMESPACE];
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->entries[i].object.space.name, name) == 0)
            return &in->entries[i].object.space;
    }
    return NULL;
}

bool pod_table_has_uid(const pod_table *table, const char *uid)
{
    return find_entry(&table->kinds[POD_KIND_POD], uid) != NULL ||
           find_entry(&table->kinds[POD_KIND_NAMESPACE], uid) != NULL;
}

size_t pod_table_count(const pod_table *table, enum pod_kind kind)
{
    return table->kinds[kind].count;
}

const pod_object *pod_table_at(const pod_table *table, enum pod_kind kind, size_t index)
{
    return &table->kinds[kind].entries[index].object;
}
