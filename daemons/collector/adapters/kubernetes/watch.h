/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps one kind of object up to date: lists it page by page, then watches from the list's version
 * on. A watch that ends is taken up from the last version that was told; a version that the server
 * no longer has (410, as an answer or as an event) means a new list. Every failure waits, twice as
 * long as the last, with jitter. What is known stays until a whole new list says otherwise.
 */
#ifndef COLLECTOR_KUBERNETES_WATCH_H
#define COLLECTOR_KUBERNETES_WATCH_H

#include "../../core/pods/pods.h"
#include "api_object.h"

typedef struct watch_request {
    const char *path;               /* with the query */
    const char *accept;             /* media types */
    uint32_t timeout_ms;            /* of the whole answer */
    void (*started)(void *context); /* a 200 answer begins */
    /* Takes its bytes; not 0 = stop reading. */
    int (*take)(void *context, const char *bytes, size_t length);
    void *context;
} watch_request;

typedef struct watch_answer {
    int status; /* HTTP; 0 = none came, see message */
    uint64_t retry_after_ms;
    char message[256]; /* for people; "" = the answer came to its end */
} watch_answer;

typedef struct watch_ports {
    void *context;
    void (*get)(void *context, const watch_request *request, watch_answer *out);
    bool (*wait)(void *context, uint64_t ms); /* false = the end */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);
} watch_ports;

typedef struct watch_options {
    enum pod_kind kind;
    char node[254]; /* POD_KIND_POD: whose pods */
    size_t event_bytes;
    size_t page_bytes;
    uint64_t backoff_min_ms;
    uint64_t backoff_max_ms;
    uint32_t watch_seconds; /* how long the server is asked to let one watch run */
} watch_options;

typedef struct watch watch;

/* `feed` is borrowed. NULL = no memory. */
watch *watch_new(const watch_ports *ports, const watch_options *options, pods *feed);
void watch_free(watch *self);

/* Runs until ports.wait returns false. */
void watch_run(watch *self);

/* Any thread. */
typedef struct watch_stats {
    uint64_t lists, watches, events, failures, gone;
} watch_stats;
watch_stats watch_get_stats(const watch *self);

#endif
