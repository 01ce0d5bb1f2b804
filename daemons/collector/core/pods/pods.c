/* SPDX-License-Identifier: Apache-2.0 */
#include "pods.h"

#include <catalogue/reason.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pods {
    pods_ports ports;
    pods_options options;
    pthread_mutex_t lock;
    pod_table *table;
    first_seen *memory;
    uint64_t started_ms;
    bool is_listing[POD_KIND_END];
    bool told_full[POD_KIND_END]; /* the log has reported that a limit is reached */
    char trouble[POD_KIND_END][256];
    pods_stats stats;
};

pods *pods_new(const pods_ports *ports, const pods_options *options)
{
    pods *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return NULL;
    self->ports = *ports;
    self->options = *options;
    self->started_ms = ports->now_ms(ports->context);
    pthread_mutex_init(&self->lock, NULL);
    self->table = pod_table_new(options->max_pods, options->max_namespaces);
    self->memory = first_seen_new();
    if (self->table != NULL && self->memory != NULL)
        return self;
    pods_free(self);
    return NULL;
}

void pods_free(pods *self)
{
    if (self == NULL)
        return;
    pod_table_free(self->table);
    first_seen_free(self->memory);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

int pods_remember(pods *self, const char *text, size_t length, char *message, size_t size)
{
    self->options.has_memory = true;
    return first_seen_read(self->memory, text, length, message, size);
}

/* ---- the feed ------------------------------------------------------------------------------ */

static void note(pods *self, const pod_object *one, bool first_list)
{
    uint64_t now = self->ports.now_ms(self->ports.context);
    bool is_pod = one->kind == POD_KIND_POD;
    uint64_t created = is_pod ? one->pod.created_ms : one->space.created_ms;
    bool is_old = first_list && !self->options.has_memory && created < self->started_ms;
    pod_policy_note(self->memory, is_pod ? one->pod.uid : one->space.uid,
                    is_pod ? one->pod.settings : one->space.settings,
                    is_pod ? one->pod.setting_count : one->space.setting_count, now, is_old);
}

static bool is_there(const void *context, const char *uid)
{
    return pod_table_has_uid(context, uid);
}

static bool is_all_known(const pods *self)
{
    return pod_table_is_known(self->table, POD_KIND_POD) &&
           (self->options.max_namespaces == 0 ||
            pod_table_is_known(self->table, POD_KIND_NAMESPACE));
}

/* Unlocks, saves changes of the memory, and tells that decisions may have changed. */
static void end_change(pods *self)
{
    char *text = NULL;
    size_t length = 0;
    bool save =
        first_seen_has_news(self->memory) && first_seen_write(self->memory, &text, &length) == 0;
    pthread_mutex_unlock(&self->lock);
    if (save)
        (void)self->ports.save(self->ports.context, text, length);
    free(text);
    self->ports.changed(self->ports.context);
}

void pods_begin_list(pods *self, enum pod_kind kind)
{
    pthread_mutex_lock(&self->lock);
    self->is_listing[kind] = true;
    pod_table_begin_list(self->table, kind);
    pthread_mutex_unlock(&self->lock);
}

void pods_end_list(pods *self, enum pod_kind kind)
{
    pthread_mutex_lock(&self->lock);
    bool first = !pod_table_is_known(self->table, kind);
    self->is_listing[kind] = false;
    pod_table_end_list(self->table, kind);
    for (size_t i = 0; i < pod_table_count(self->table, kind); i++)
        note(self, pod_table_at(self->table, kind, i), first);
    if (is_all_known(self))
        first_seen_prune(self->memory, is_there, self->table);
    end_change(self);
}

void pods_put(pods *self, pod_object *one)
{
    enum pod_kind kind = one->kind;
    pthread_mutex_lock(&self->lock);
    self->stats.changes++;
    if (!self->is_listing[kind] && pod_table_is_known(self->table, kind))
        note(self, one, false);
    enum pod_put rc = pod_table_put(self->table, one);
    bool tell = rc == POD_PUT_FULL && !self->told_full[kind];
    self->told_full[kind] = self->told_full[kind] || tell;
    self->stats.refused += rc != POD_PUT_DONE;
    if (self->is_listing[kind])
        pthread_mutex_unlock(&self->lock); /* pods_end_list reports all changes at once */
    else
        end_change(self);
    if (tell)
        self->ports.log(self->ports.context,
                        kind == POD_KIND_POD
                            ? "this node has more pods than limits.pods: JVMs of the rest are not "
                              "profiled; raise the limit"
                            : "more namespaces have hotstack.dev settings than limits.namespaces: "
                              "those of the rest are not read; raise the limit");
}

void pods_remove(pods *self, const pod_object *one)
{
    pthread_mutex_lock(&self->lock);
    self->stats.changes++;
    pod_table_remove(self->table, one);
    end_change(self);
}

void pods_set_trouble(pods *self, enum pod_kind kind, const char *why)
{
    pthread_mutex_lock(&self->lock);
    (void)snprintf(self->trouble[kind], sizeof(self->trouble[kind]), "%s", why);
    pthread_mutex_unlock(&self->lock);
}

/* ---- the join ------------------------------------------------------------------------------ */

static void set_unknown(const pods *self, const local_jvm *jvm, target_labels *labels,
                        policy_decision *out)
{
    (void)snprintf(labels->workload_kind, sizeof(labels->workload_kind), "unknown");
    (void)snprintf(labels->workload, sizeof(labels->workload), "unknown");
    out->reason = REASON_POD_UNKNOWN;
    for (unsigned kind = 0; kind < POD_KIND_END; kind++) {
        if ((kind == POD_KIND_NAMESPACE && self->options.max_namespaces == 0) ||
            pod_table_is_known(self->table, kind))
            continue;
        (void)snprintf(out->error, sizeof(out->error), "the %s are not known yet: %s",
                       kind == POD_KIND_POD ? "node's pods" : "namespaces",
                       self->trouble[kind][0] != '\0' ? self->trouble[kind]
                                                      : "the API server is being asked");
        return;
    }
    (void)snprintf(out->error, sizeof(out->error),
                   "no pod of this node has the container %.16s of pod %s%s%s", jvm->container_id,
                   jvm->pod_uid, self->trouble[POD_KIND_POD][0] != '\0' ? "; " : "",
                   self->trouble[POD_KIND_POD]);
}

static void fill_labels(const pod *from, const pod_container *container, target_labels *labels)
{
    (void)snprintf(labels->namespace_name, sizeof(labels->namespace_name), "%s",
                   from->namespace_name);
    (void)snprintf(labels->pod, sizeof(labels->pod), "%s", from->name);
    (void)snprintf(labels->container, sizeof(labels->container), "%s", container->name);
    (void)snprintf(labels->image, sizeof(labels->image), "%s", container->image);
    pod_workload(from, labels->workload_kind, sizeof(labels->workload_kind), labels->workload,
                 sizeof(labels->workload));
    pod_version(from, container, labels->app_version, sizeof(labels->app_version));
    (void)snprintf(labels->service, sizeof(labels->service), "%s", pod_service(from, container));
}

bool pods_decide(pods *self, const local_jvm *jvm, target_labels *labels, policy_decision *out)
{
    if (jvm->pod_uid[0] == '\0')
        return false;
    *labels = (target_labels){0};
    *out = (policy_decision){0};
    pthread_mutex_lock(&self->lock);
    const pod_container *container = NULL;
    const pod *found = is_all_known(self) ? pod_table_find(self->table, jvm->container_id,
                                                           jvm->pod_uid, &container)
                                          : NULL;
    if (found == NULL) {
        set_unknown(self, jvm, labels, out);
    } else {
        const pod_policy_input input = {
            .pod = found,
            .container = container,
            .space = pod_table_namespace(self->table, found->namespace_name),
            .defaults = &self->options.defaults,
            .now_ms = self->ports.now_ms(self->ports.context),
            .memory = self->memory,
        };
        fill_labels(found, container, labels);
        pod_policy_decide(&input, out);
    }
    pthread_mutex_unlock(&self->lock);
    return true;
}

pods_stats pods_get_stats(pods *self)
{
    pthread_mutex_lock(&self->lock);
    pods_stats stats = self->stats;
    stats.pods = pod_table_count(self->table, POD_KIND_POD);
    stats.namespaces = pod_table_count(self->table, POD_KIND_NAMESPACE);
    for (unsigned kind = 0; kind < POD_KIND_END; kind++) {
        stats.is_known[kind] = pod_table_is_known(self->table, kind);
        stats.has_trouble[kind] = self->trouble[kind][0] != '\0';
    }
    pthread_mutex_unlock(&self->lock);
    return stats;
}
