/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue in a directory. Each entry is a file that is written as a temporary file, synced and
 * renamed; names sort from the oldest to the newest. The file of a dropped entry becomes empty and
 * has the cause in its name, until the drop has been reported. Other files in the directory stay as
 * they are.
 */
#ifndef COLLECTOR_ADAPTERS_FILE_QUEUE_H
#define COLLECTOR_ADAPTERS_FILE_QUEUE_H

#include "../../core/queue.h"

/*
 * Opens or creates the queue in `directory`, for this process alone. Returns 0, or -1 with a
 * sentence in message (the directory cannot be used, or another collector has locked it). Free *out
 * with file_queue_close.
 */
int file_queue_open(queue **out, const char *directory, uint64_t max_bytes, uint64_t max_entries,
                    char *message, size_t size);
void file_queue_close(queue *self);

#endif
