/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue's positions, as text in a file of its directory, one per line. Positions that must come
 * into force together with an entry are written before it, into a file with the entry's number.
 * That file is renamed to POSITIONS_FILE before anybody sees the entry.
 */
#ifndef COLLECTOR_POSITIONS_H
#define COLLECTOR_POSITIONS_H

#include "../../core/queue.h"

#define POSITIONS_FILE   "positions"
#define POSITIONS_SUFFIX ".positions" /* follows the number, as in the names of entries */

/* All functions return 0, or -1 with errno. */
int positions_write(int directory, uint64_t sequence, const queue_positions *positions);
/* positions_prove puts the positions of an entry that is in the queue in force; positions_forget
 * removes those of an entry that is not. */
int positions_prove(int directory, uint64_t sequence);
int positions_forget(int directory, uint64_t sequence);
/* Reads the positions in force, malloc'd, up to the first line that is malformed. *out = NULL where
 * there is no file. */
int positions_read(int directory, queue_position **out, size_t *count);

#endif
