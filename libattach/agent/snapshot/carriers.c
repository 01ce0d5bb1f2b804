/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/carriers.h"

#define GROUPS_MAX   256
#define CARRIERS_MAX 1024
#define LOCALS       16

/* jdk.internal.misc.CarrierThread creates this group below the root group. Classes are compared by
 * name so that the search loads none. */
static const char group_name[] = "CarrierThreads";

static jobject root_group(jvm *j)
{
    jobject self = jvm_static_object(j, CLASS_THREAD, THREAD_CURRENT);
    jobject group = jvm_object(j, self, THREAD_GROUP);
    jvm_drop(j, self);
    for (;;) {
        jobject parent = jvm_object(j, group, GROUP_PARENT);
        if (parent == NULL)
            return group;
        jvm_drop(j, group);
        group = parent;
    }
}

static jobject new_array(jvm *j, enum java_class class_id, int n)
{
    jobject array = (*j->env)->NewObjectArray(j->env, n, j->classes[class_id], NULL);
    if ((*j->env)->ExceptionCheck(j->env)) {
        (*j->env)->ExceptionClear(j->env);
        return NULL;
    }
    return array;
}

/* Returns the group of the carriers, or NULL where no virtual thread has run yet. *all becomes true
 * when the search covered all groups. */
static jobject carrier_group(jvm *j, bool *all)
{
    jobject root = root_group(j), groups = new_array(j, CLASS_GROUP, GROUPS_MAX), found = NULL;
    jint n = groups == NULL ? 0 : jvm_int(j, root, GROUP_GROUPS, groups, (jboolean)JNI_FALSE);
    for (jint i = 0; i < n && i < GROUPS_MAX && found == NULL; i++) {
        jobject group = jvm_element(j, groups, (size_t)i);
        if (jvm_says(j, group, GROUP_NAME, group_name))
            found = group;
        else
            jvm_drop(j, group);
    }
    jvm_drop(j, groups);
    jvm_drop(j, root);
    *all = groups != NULL && n < GROUPS_MAX && !jvm_failed(j);
    return found;
}

static void mark_group(jvm *j, reading *r, jobject group)
{
    jobject threads = new_array(j, CLASS_THREAD, CARRIERS_MAX);
    jint n = threads == NULL ? 0 : jvm_int(j, group, GROUP_THREADS, threads, (jboolean)JNI_FALSE);
    for (jint i = 0; i < n && i < CARRIERS_MAX; i++) {
        jobject thread = jvm_element(j, threads, (size_t)i);
        thread_row *row = reading_find(r, jvm_long(j, thread, THREAD_ID));
        if (row != NULL)
            row->flags |= THREADS_CARRIER;
        jvm_drop(j, thread);
    }
    jvm_drop(j, threads);
}

bool carriers_mark(jvm *j, reading *r)
{
    bool all = false;
    if (!jvm_push(j, LOCALS)) {
        jvm_clear(j);
        return true;
    }
    jobject group = carrier_group(j, &all);
    bool has_virtual = group != NULL || !all;
    if (group != NULL)
        mark_group(j, r, group);
    jvm_pop(j);
    jvm_clear(j); /* a snapshot is usable without this mark */
    return has_virtual;
}
