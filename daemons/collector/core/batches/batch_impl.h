/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the files that build batches. */
#ifndef COLLECTOR_CORE_BATCH_IMPL_H
#define COLLECTOR_CORE_BATCH_IMPL_H

#include "batch.h"

/* Finds a JVM among the batch's targets, or adds it. Returns 0 or -1 (no memory). */
int batch__add_target(batch *one, const local_jvm *jvm, const target_labels *labels,
                      uint32_t *index);

/* Whether an amount exceeds a limit; 0 = no limit. */
bool batch__over(uint64_t limit, uint64_t amount);

/* Adds snapshot `snapshot` of another batch. Returns 0, or -1 (no memory). */
int batch__copy_snapshot(batch *one, const local_jvm *jvm, const target_labels *labels,
                         const batch *from, uint32_t snapshot);

#endif
