/* SPDX-License-Identifier: Apache-2.0 */
/* Converts thread snapshots from the agent's form to the core's: functions of collector_ports. */
#ifndef COLLECTOR_ADAPTERS_SNAPSHOT_READER_H
#define COLLECTOR_ADAPTERS_SNAPSHOT_READER_H

#include "../core/batches/snapshot.h"

/* The functions read_snapshot and forget_snapshot of collector_ports; the context is not used. */
int snapshot_reader_read(void *context, void **memory, int fd, uint64_t size, thread_snapshot *out,
                         char *message, size_t message_size);
void snapshot_reader_forget(void *context, void *memory);

#endif
