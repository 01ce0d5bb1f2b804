/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/writer/writer.h: the threads that write to the store, behind a bounded queue: nng
 * push/pull over inproc. Their callers wait.
 */
#ifndef BACKEND_WRITER_H
#define BACKEND_WRITER_H

#include "ingest.h"

typedef struct writer writer;

enum { WRITER_THREADS_MAX = 16 };

/*
 * Starts `threads` threads, WRITER_THREADS_MAX at most. depth: jobs that may be queued or running
 * at once; more are turned away. idle: NULL, or called on the first thread between jobs, every
 * idle_ms or a little later (and once at the start): where a store that was down is tried again.
 * NULL on failure.
 */
writer *writer_start(int depth, unsigned threads, void (*idle)(void *context), void *context,
                     uint32_t idle_ms);

/* Runs what is queued, then ends the threads. Takes NULL. */
void writer_stop(writer *w);

/* The port, with a writer as self. */
extern const writer_ops writer_port;

#endif
