/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/writer/writer.h: the threads that write to the store, with a bounded queue before them:
 * nng push/pull over inproc. Callers wait for their jobs.
 */
#ifndef BACKEND_WRITER_H
#define BACKEND_WRITER_H

#include "ingest.h"

typedef struct writer writer;

enum { WRITER_THREADS_MAX = 16 };

/*
 * Starts `threads` threads, WRITER_THREADS_MAX at most. depth: most jobs queued or running; more
 * are refused. idle: NULL, or a function that the first thread calls between jobs, every idle_ms or
 * a little later, and once at the start; it retries a store that was down. Returns NULL on failure.
 */
writer *writer_start(int depth, unsigned threads, void (*idle)(void *context), void *context,
                     uint32_t idle_ms);

/* Runs the queued jobs, then ends the threads. NULL is allowed. */
void writer_stop(writer *w);

/* The port; its self is a writer. */
extern const writer_ops writer_port;

#endif
