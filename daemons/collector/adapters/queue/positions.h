/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue's positions as text in a file of its directory, a line each. Positions that are in
 * force exactly when an entry is in the queue are written before it, under its number; they take
 * the file's name before anybody sees that entry.
 */
#ifndef COLLECTOR_POSITIONS_H
#define COLLECTOR_POSITIONS_H

#include "../../core/queue.h"

#define POSITIONS_FILE   "positions"
#define POSITIONS_SUFFIX ".positions" /* behind the number, as entries have it */

/* All return 0, or -1 with errno. */
int positions_write(int directory, uint64_t sequence, const queue_positions *positions);
/* The entry of that number is in the queue; or it is not. */
int positions_prove(int directory, uint64_t sequence);
int positions_forget(int directory, uint64_t sequence);
/* Those in force, malloc'd, up to the first line that is none; *out = NULL where there is no file.
 */
int positions_read(int directory, queue_position **out, size_t *count);

#endif
