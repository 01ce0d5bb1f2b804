/* SPDX-License-Identifier: Apache-2.0 */
/* Thread snapshots as the agent sends them into the core's form: collector_ports' functions. */
#ifndef COLLECTOR_ADAPTERS_SNAPSHOT_READER_H
#define COLLECTOR_ADAPTERS_SNAPSHOT_READER_H

#include "../core/batches/snapshot.h"

/* The functions of collector_ports read_snapshot and forget_snapshot; the context is not used. */
int snapshot_reader_read(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size);
void snapshot_reader_forget(void *context, void *memory);

#endif
