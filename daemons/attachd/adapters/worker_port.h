/* SPDX-License-Identifier: Apache-2.0 */
/* Implements attachd_ports with libattach and hotstack-attach-worker. */
#ifndef ATTACHD_ADAPTERS_WORKER_PORT_H
#define ATTACHD_ADAPTERS_WORKER_PORT_H

#include "../core/attachd.h"
#include "self_check.h"

/* Settings of the port; their texts must live as long as the port. */
typedef struct worker_port {
    const char *worker;          /* path of the program; "" = the installed one */
    const char *library;         /* libasyncProfiler.so */
    const char *agent;           /* libhotstackthreads.so */
    const char *installation_id; /* [a-z0-9], marks our sessions and files in a target */
    const char *proc_root;       /* "" = /proc */
    uint32_t max_seconds;        /* age at which a session ends by itself; 0 = never */
    const self_check *lacks;     /* as attachd_ports.lacks */
    const char *spool_dir; /* directory of windows, which are nameless files; "" = in memory */
} worker_port;

/* Sets every function; context = port. */
void worker_port_init(attachd_ports *ports, worker_port *port);

#endif
