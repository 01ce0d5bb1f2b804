/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins JVMs to the pods of this node: the pod of a JVM, and the decision of its annotations. One
 * thread feeds it from the API server; any thread may ask.
 */
#ifndef COLLECTOR_CORE_PODS_PODS_H
#define COLLECTOR_CORE_PODS_PODS_H

#include "pod_policy.h"
#include "pod_table.h"

/* Everything outside; called on any thread, without the lock held. */
typedef struct pods_ports {
    void *context;
    uint64_t (*now_ms)(void *context); /* Unix ms */
    void (*log)(void *context, const char *message);
    void (*changed)(void *context); /* decisions may have changed */
    /* Keeps the text of first sights across restarts. Returns 0, or -1 after it has reported the
     * error. */
    int (*save)(void *context, const char *text, size_t length);
} pods_ports;

typedef struct pods_options {
    size_t max_pods;
    size_t max_namespaces; /* with settings; 0 = namespaces are not read */
    bool has_memory;       /* false: the state directory is new, see pods_remember */
    pod_policy_defaults defaults;
} pods_options;

typedef struct pods pods;

/* Returns NULL without memory. */
pods *pods_new(const pods_ports *ports, const pods_options *options);
void pods_free(pods *self);

/*
 * Loads the text that pods_ports.save wrote in an earlier run; call it before anything else.
 * Without it, each profile-for on a pod that is older than this run counts as ended, since its time
 * may have passed. Returns 0, or -1 with a sentence in message.
 */
int pods_remember(pods *self, const char *text, size_t length, char *message, size_t size);

/* The feed, like the functions of pod_table.h. */
void pods_begin_list(pods *self, enum pod_kind kind);
void pods_end_list(pods *self, enum pod_kind kind);
void pods_put(pods *self, pod_object *one);
void pods_remove(pods *self, const pod_object *one);
/* Sets why no objects arrive at present; "" = they do again. The known objects stay in force. */
void pods_set_trouble(pods *self, enum pod_kind kind, const char *why);

/*
 * Fills labels and decision for a JVM that runs in a pod, and returns true. A JVM whose pod is
 * unknown gets the workload "unknown" and is off with REASON_POD_UNKNOWN. Returns false for a
 * process outside of pods, to which annotations do not apply.
 */
bool pods_decide(pods *self, const local_jvm *jvm, target_labels *labels, policy_decision *out);

typedef struct pods_stats {
    uint64_t pods, namespaces;   /* at present */
    uint64_t changes;            /* objects added or removed */
    uint64_t refused;            /* over a limit, or without memory */
    bool is_known[POD_KIND_END]; /* a whole list has been read */
    bool has_trouble[POD_KIND_END];
} pods_stats;
pods_stats pods_get_stats(pods *self);

#endif
