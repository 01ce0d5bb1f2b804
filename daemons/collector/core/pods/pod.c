/* SPDX-License-Identifier: Apache-2.0 */
#include "pod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pod_clear(pod *one)
{
    free(one->containers);
    free(one->settings);
    *one = (pod){0};
}

void pod_namespace_clear(pod_namespace *one)
{
    free(one->settings);
    *one = (pod_namespace){0};
}

bool pod_setting_name(pod_setting *out, const char *name)
{
    static const char domain[] = "hotstack.dev";
    const char *slash = strchr(name, '/');
    size_t prefix = slash != NULL ? (size_t)(slash - name) : 0;
    if (prefix < sizeof(domain) - 1 ||
        memcmp(slash - (sizeof(domain) - 1), domain, sizeof(domain) - 1) != 0 ||
        strlen(slash + 1) >= sizeof(out->key))
        return false;
    size_t container = prefix - (sizeof(domain) - 1);
    if (container > 0 &&
        (container == 1 || name[container - 1] != '.' || container - 1 >= sizeof(out->container)))
        return false;
    if (container > 0)
        memcpy(out->container, name, container - 1);
    out->container[container > 0 ? container - 1 : 0] = '\0';
    (void)snprintf(out->key, sizeof(out->key), "%s", slash + 1);
    return true;
}

/* Returns the length of `name` without "-suffix"; 0 where it does not end so, or nothing would be
 * left. */
static size_t length_without(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t cut = strlen(suffix) + 1;
    if (cut == 1 || length <= cut || name[length - cut] != '-' ||
        strcmp(name + length - cut + 1, suffix) != 0)
        return 0;
    return length - cut;
}

/*
 * Removes the time from a Job's name. The CronJob controller names its Jobs <name>-<minutes since
 * 1970>, which has had eight digits since 1989; a Job that a person numbered has fewer.
 */
static size_t length_without_minutes(const char *name)
{
    enum { MINUTES_DIGITS = 8 };
    const char *dash = strrchr(name, '-');
    if (dash == NULL || dash == name)
        return 0;
    size_t digits = strspn(dash + 1, "0123456789");
    return digits >= MINUTES_DIGITS && dash[1 + digits] == '\0' ? (size_t)(dash - name) : 0;
}

void pod_workload(const pod *one, char *kind, size_t kind_size, char *name, size_t name_size)
{
    const char *owner = one->owner_name;
    size_t length = strlen(owner);
    size_t shorter = 0;
    (void)snprintf(kind, kind_size, "%s", one->owner_kind);
    if (strcmp(kind, "ReplicaSet") == 0) {
        shorter = length_without(owner, one->template_hash);
        (void)snprintf(kind, kind_size, "%s", shorter > 0 ? "Deployment" : "ReplicaSet");
    } else if (strcmp(kind, "Job") == 0) {
        shorter = length_without_minutes(owner);
        (void)snprintf(kind, kind_size, "%s", shorter > 0 ? "CronJob" : "Job");
    } else if (kind[0] == '\0' || length == 0 || strcmp(kind, "Node") == 0) {
        /* The kubelet names a static pod's mirror <name>-<node>. */
        owner = one->name;
        length = strlen(owner);
        shorter = strcmp(one->owner_kind, "Node") == 0 ? length_without(owner, one->node) : 0;
        (void)snprintf(kind, kind_size, "Pod");
    }
    (void)snprintf(name, name_size, "%.*s", (int)(shorter > 0 ? shorter : length), owner);
}

void pod_version(const pod *one, const pod_container *container, char *out, size_t size)
{
    if (one->version[0] != '\0') {
        (void)snprintf(out, size, "%s", one->version);
        return;
    }
    const char *slash = strrchr(container->image, '/'); /* an earlier colon precedes a port */
    const char *name = slash != NULL ? slash + 1 : container->image;
    size_t length = strcspn(name, "@");
    const char *colon = memchr(name, ':', length);
    if (colon != NULL)
        (void)snprintf(out, size, "%.*s", (int)(length - (size_t)(colon + 1 - name)), colon + 1);
    else
        out[0] = '\0';
}

const char *pod_service(const pod *one, const pod_container *container)
{
    return one->service[0] != '\0' ? one->service : container->otel_service;
}
