/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the objects of one kind up to date: lists them page by page, then watches from the list's
 * version on. After a watch ends, the next begins at the last version that the server sent. If the
 * server no longer has that version (410, as an answer or as an event), it lists again. After every
 * failure it waits twice as long as before, with jitter. The known objects stay until a complete
 * new list replaces them.
 */
#ifndef COLLECTOR_KUBERNETES_WATCH_H
#define COLLECTOR_KUBERNETES_WATCH_H

#include "../../core/pods/pods.h"
#include "api_object.h"

typedef struct watch_request {
    const char *path;               /* including the query */
    const char *accept;             /* media types */
    uint32_t timeout_ms;            /* of the whole answer */
    void (*started)(void *context); /* called when a 200 answer begins */
    /* Takes bytes of the answer; a result other than 0 stops reading. */
    int (*take)(void *context, const char *bytes, size_t length);
    void *context;
} watch_request;

typedef struct watch_answer {
    int status; /* HTTP status; 0 = no answer, see message */
    uint64_t retry_after_ms;
    char message[256]; /* for people; "" = the answer was complete */
} watch_answer;

typedef struct watch_ports {
    void *context;
    void (*get)(void *context, const watch_request *request, watch_answer *out);
    bool (*wait)(void *context, uint64_t ms); /* false = the program ends */
    uint64_t (*random)(void *context);
    void (*log)(void *context, const char *message);
} watch_ports;

typedef struct watch_options {
    enum pod_kind kind;
    char node[254]; /* POD_KIND_POD: the node whose pods are read */
    size_t event_bytes;
    size_t page_bytes;
    uint64_t backoff_min_ms;
    uint64_t backoff_max_ms;
    uint32_t watch_seconds; /* how long the server may let one watch run */
} watch_options;

typedef struct watch watch;

/* Borrows `feed`. Returns NULL without memory. */
watch *watch_new(const watch_ports *ports, const watch_options *options, pods *feed);
void watch_free(watch *self);

/* Runs until ports.wait returns false. */
void watch_run(watch *self);

/* Read from any thread. */
typedef struct watch_stats {
    uint64_t lists, watches, events, failures, gone;
} watch_stats;
watch_stats watch_get_stats(const watch *self);

#endif
