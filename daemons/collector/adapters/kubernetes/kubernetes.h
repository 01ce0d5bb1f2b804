/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the pods and namespaces from the API server into the core, on two threads of its own. */
#ifndef COLLECTOR_KUBERNETES_H
#define COLLECTOR_KUBERNETES_H

#include "watch.h"

typedef struct kubernetes_options {
    const char *url; /* "" = KUBERNETES_SERVICE_HOST and _PORT */
    const char *token_file;
    const char *ca_file;
    const char *node;
    const char *user_agent;
    const char *state_dir; /* where the first sights of profile-for are stored */
    pods_options pods;     /* has_memory is ignored */
    size_t event_bytes;
    size_t page_bytes;
    uint64_t backoff_min_ms;
    uint64_t backoff_max_ms;
    void (*changed)(void *context); /* decisions may have changed; any thread */
    void *context;
} kubernetes_options;

typedef struct kubernetes kubernetes;

/* Starts the threads. Returns NULL with a sentence in message. */
kubernetes *kubernetes_start(const kubernetes_options *options, char *message, size_t size);
/* Ends the current requests and the threads. NULL is allowed. */
void kubernetes_stop(kubernetes *self);

/* Returns the pods, borrowed until kubernetes_stop. */
pods *kubernetes_pods(const kubernetes *self);
watch_stats kubernetes_watch_stats(const kubernetes *self, enum pod_kind kind);

#endif
