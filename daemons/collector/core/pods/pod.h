/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's data of a pod and of a namespace, and the facts that follow from a pod alone. */
#ifndef COLLECTOR_CORE_PODS_POD_H
#define COLLECTOR_CORE_PODS_POD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    POD_CONTAINERS_MAX = 64, /* init and ephemeral ones included */
    POD_SETTINGS_MAX = 64,   /* annotations and labels with our prefix on one object */
    POD_SETTING_VALUE_MAX = 255,
};

/* An annotation or label whose prefix is hotstack.dev or <container>.hotstack.dev. */
typedef struct pod_setting {
    char container[64]; /* "" = the whole object */
    char key[64];       /* after the slash */
    char value[POD_SETTING_VALUE_MAX + 1];
    bool is_label;
    bool too_long; /* the value was longer than POD_SETTING_VALUE_MAX and is cut */
} pod_setting;

typedef struct pod_container {
    char name[64];
    char id[80]; /* the runtime's id without "containerd://"; "" = it has none yet */
    char image[256];
    char otel_service[128]; /* OTEL_SERVICE_NAME of its environment, if it is a plain value */
} pod_container;

typedef struct pod {
    char uid[40];
    char config_hash[40]; /* of a static pod: its control groups have this instead of the uid */
    char name[254];
    char namespace_name[64];
    char node[254];
    uint64_t created_ms;
    char owner_kind[64]; /* of the owner that is the controller; "" = none */
    char owner_name[254];
    char template_hash[64]; /* label pod-template-hash */
    char version[64];       /* label app.kubernetes.io/version */
    char service[64];       /* label app.kubernetes.io/name */
    pod_container *containers;
    size_t container_count;
    pod_setting *settings;
    size_t setting_count;
    size_t settings_dropped; /* settings over POD_SETTINGS_MAX */
} pod;

typedef struct pod_namespace {
    char uid[40];
    char name[64];
    uint64_t created_ms;
    pod_setting *settings;
    size_t setting_count;
    size_t settings_dropped;
} pod_namespace;

/* Free the members of the object and zero it. */
void pod_clear(pod *one);
void pod_namespace_clear(pod_namespace *one);

/*
 * Splits "hotstack.dev/profile" or "app.hotstack.dev/profile" into container and key of *out.
 * Returns false where the name has another prefix, or a part that does not fit.
 */
bool pod_setting_name(pod_setting *out, const char *name);

/*
 * Finds the workload of a pod from the pod alone: a Deployment is the name of its ReplicaSet
 * without the pod-template-hash, a CronJob that of its Job without the digits of the scheduled
 * time, a static pod its name without the node's; a pod without a controller is its own workload,
 * of kind "Pod".
 */
void pod_workload(const pod *one, char *kind, size_t kind_size, char *name, size_t name_size);

/* Finds the version: the label app.kubernetes.io/version, else the tag of the container's image,
 * else "". */
void pod_version(const pod *one, const pod_container *container, char *out, size_t size);

/* Returns the service: the label app.kubernetes.io/name, else the container's OTEL_SERVICE_NAME,
 * else "". */
const char *pod_service(const pod *one, const pod_container *container);

#endif
