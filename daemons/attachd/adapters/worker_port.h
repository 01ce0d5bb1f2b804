/* SPDX-License-Identifier: Apache-2.0 */
/* attachd_ports over libattach and hotstack-attach-worker. */
#ifndef ATTACHD_ADAPTERS_WORKER_PORT_H
#define ATTACHD_ADAPTERS_WORKER_PORT_H

#include "../core/attachd.h"
#include "self_check.h"

/* Settings of the port; texts are borrowed for its life. */
typedef struct worker_port {
    const char *worker;          /* program; "" = the installed one */
    const char *library;         /* libasyncProfiler.so */
    const char *agent;           /* libhotstackthreads.so */
    const char *installation_id; /* [a-z0-9], names what is ours in a target */
    const char *proc_root;       /* "" = /proc */
    uint32_t max_seconds;        /* a session ends by itself after so long; 0 = never */
    const self_check *lacks;     /* as attachd_ports.lacks */
    const char *spool_dir;       /* windows are kept here as nameless files; "" = in memory */
} worker_port;

/* Fills every function; context = port. */
void worker_port_init(attachd_ports *ports, worker_port *port);

#endif
