/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the program, for the files of its composition. */
#ifndef COLLECTOR_PROGRAM_IMPL_H
#define COLLECTOR_PROGRAM_IMPL_H

#include "adapters/jobs.h"
#include "adapters/kubernetes/kubernetes.h"
#include "adapters/reader.h"
#include "adapters/status_socket.h"
#include "adapters/transport.h"
#include "adapters/web.h"
#include "adapters/wire.h"
#include "program.h"

#include <config/watch.h>

#include <localrpc/client.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

struct program {
    const config *loaded; /* as read at the start */
    program_sources sources;
    config_watch *files; /* the files of the configuration and its secrets */
    const config_section *settings;
    char node[256];
    rule_set *rules;
    queue *queued;
    localrpc_client *attachd;
    transport *http;
    wire *contract;
    reader recordings;
    uploader *uploads;
    collector *core;
    kubernetes *pods; /* NULL = not in Kubernetes mode */
    jobs *running;
    sem_t parsers;          /* slots for reading recordings, because that takes memory and CPU */
    uint64_t read_until_ms; /* at the end: when reading of the last windows stops */
    atomic_bool stop_reading;
    shown_sources shown;
    web *pages;
    status_socket *status;
    FILE *ledger;
    int wake; /* eventfd that makes the scheduler look again */
    pthread_mutex_t lock;
    pthread_cond_t upload_wake;
    bool upload_asked;
    bool ending; /* the uploader only empties the queue */
    bool ended;
};

uint64_t program__random(void *context);

/* The ports of the core and the uploader. */
collector_ports program__core_ports(program *self);
uploader_ports program__upload_ports(program *self);

#endif
