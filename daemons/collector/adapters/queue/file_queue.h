/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue in a directory: one file an entry, written as a temporary file, synced and renamed,
 * oldest first by name. A dropped entry is an empty file with the cause's name in its place, until
 * the drop has been told. Whatever else is in the directory is left alone.
 */
#ifndef COLLECTOR_ADAPTERS_FILE_QUEUE_H
#define COLLECTOR_ADAPTERS_FILE_QUEUE_H

#include "../../core/queue.h"

/*
 * Opens, or makes, the queue in `directory` for this process alone. 0, or -1 with a sentence in
 * message (the directory cannot be used, or another collector holds it). *out: free it with
 * file_queue_close.
 */
int file_queue_open(queue **out, const char *directory, uint64_t max_bytes, uint64_t max_entries,
                    char *message, size_t size);
void file_queue_close(queue *self);

#endif
