/* SPDX-License-Identifier: Apache-2.0 */
/* Turns recordings into profiles: functions of collector_ports, with daemons/shared/recording. */
#ifndef COLLECTOR_ADAPTERS_READER_H
#define COLLECTOR_ADAPTERS_READER_H

#include "../core/collector.h"

#include <stdatomic.h>

/* The limits of one window's aggregate. */
typedef struct reader {
    uint32_t max_stacks;
    uint32_t max_threads;
    uint64_t max_bytes;
    uint64_t max_events;
    const char *keep_dir;    /* where copies of recordings go, "" = no copies */
    const atomic_bool *stop; /* once it is true, reading stops at the next chunk; NULL = never */
} reader;

/* The functions of collector_ports with the same names; context = a reader. */
uint64_t reader_start_ms(void *context, int fd);
int reader_parse(void *context, void **memory, int fd, uint64_t size, const window_span *span,
                 const event_intervals *events, profile *out, char *message, size_t message_size);
void reader_forget(void *context, void *memory);
void reader_keep(void *context, int fd, uint64_t size, const queue_position *from);

#endif
