/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of this node and the namespaces that have settings, as the API server last sent them. A
 * new list replaces the old one only once it is complete, so that a list that breaks off never
 * makes a running pod look deleted. One thread at a time.
 */
#ifndef COLLECTOR_CORE_PODS_POD_TABLE_H
#define COLLECTOR_CORE_PODS_POD_TABLE_H

#include "pod.h"

typedef struct pod_table pod_table;

/* The kinds of objects that are listed and watched. */
enum pod_kind { POD_KIND_POD, POD_KIND_NAMESPACE, POD_KIND_END };

/* One change of an object: `pod` or `space` is filled, as kind says. */
typedef struct pod_object {
    enum pod_kind kind;
    pod pod;
    pod_namespace space;
} pod_object;
void pod_object_clear(pod_object *one);

/* Makes a table with limits on the pods of the node and on the namespaces with settings. Returns
 * NULL without memory. */
pod_table *pod_table_new(size_t max_pods, size_t max_namespaces);
void pod_table_free(pod_table *table);

/* Begins a list: objects that are not put before pod_table_end_list are removed. */
void pod_table_begin_list(pod_table *table, enum pod_kind kind);
/* Removes the objects that the list did not contain. From now on the kind is known. */
void pod_table_end_list(pod_table *table, enum pod_kind kind);

enum pod_put { POD_PUT_DONE = 0, POD_PUT_FULL = -1, POD_PUT_NO_MEMORY = -2 };
/* Adds or replaces an object by its uid; takes over its members, also on failure. */
enum pod_put pod_table_put(pod_table *table, pod_object *one);
void pod_table_remove(pod_table *table, const pod_object *one);

/* Whether a whole list of the kind has been read. */
bool pod_table_is_known(const pod_table *table, enum pod_kind kind);

/*
 * Returns the pod and the container with this runtime id; NULL where no container of the node has
 * it, or where the control group names another pod. pod_uid may be "". Borrowed until the next
 * change.
 */
const pod *pod_table_find(const pod_table *table, const char *container_id, const char *pod_uid,
                          const pod_container **container);
/* Returns NULL where the namespace has no settings. Borrowed until the next change. */
const pod_namespace *pod_table_namespace(const pod_table *table, const char *name);

/* Whether a pod or namespace with settings has this uid. */
bool pod_table_has_uid(const pod_table *table, const char *uid);

/* Returns the index-th object, index < pod_table_count; borrowed until the next change. */
const pod_object *pod_table_at(const pod_table *table, enum pod_kind kind, size_t index);
size_t pod_table_count(const pod_table *table, enum pod_kind kind);

#endif
