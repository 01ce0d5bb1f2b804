/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the wire files share. */
#ifndef COLLECTOR_ADAPTERS_WIRE_IMPL_H
#define COLLECTOR_ADAPTERS_WIRE_IMPL_H

#include "wire.h"

#include <contract/wire/message.h>
#include <pthread.h>

enum { KNOWN_MAX = 1 << 20, ENTRY_BYTES_MAX = 256 * 1024 * 1024 };

struct wire {
    wire_sender sender;
    pthread_mutex_t lock;
    key_table known; /* hashes of (namespace, workload, day, stack id) */
};

/* Makes the sender's message in the arena; NULL = no memory. */
Hotstack__V1__Collector *wire__collector(const wire *self, arena *in);

/* Unpacks the ProfileBatch of a queue entry; free with
 * hotstack__v1__profile_batch__free_unpacked. */
Hotstack__V1__ProfileBatch *wire__open(const uint8_t *entry, size_t length);

#endif
