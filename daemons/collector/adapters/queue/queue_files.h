/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the queue's directory. An entry is a file whose name is its number and its kind. An
 * entry that was dropped leaves an empty file whose name is the number and the cause.
 */
#ifndef COLLECTOR_QUEUE_FILES_H
#define COLLECTOR_QUEUE_FILES_H

#include "../../core/queue.h"

enum { QUEUE_NAME_SIZE = 40, QUEUE_SEQUENCE_DIGITS = 16 };

#define QUEUE_TEMPORARY ".tmp" /* an entry that is being written */

typedef struct queue_file {
    uint64_t sequence;
    uint64_t size;
    uint64_t added_ms; /* Unix */
    queue_kind kind;
} queue_file;

void queue_file_name(char out[QUEUE_NAME_SIZE], const queue_file *one);

/* Returns the number with which an entry's name begins, and the rest of the name. 0 = another name.
 */
uint64_t queue_file_sequence(const char *name, const char **suffix);
/* Return QUEUE_KINDS_END or DROP_NONE for any other suffix. */
queue_kind queue_file_kind(const char *suffix);
enum drop_cause queue_file_cause(const char *suffix);

/* The functions below return 0, or -1 with errno. */

/* queue_file_write writes the bytes to a temporary file and syncs it. queue_file_publish gives that
 * file the entry's name, and replaces a file of that name. Both remove the temporary file if they
 * fail. */
int queue_file_write(int directory, const queue_file *one, const uint8_t *bytes);
int queue_file_publish(int directory, const queue_file *one);
int queue_file_remove(int directory, const queue_file *one);

/*
 * Turns an entry's file into an empty file with the cause's name, which stays until the drop has
 * been reported. A rename is atomic: whenever the process or the machine stops, the entry is either
 * in the queue or counted. -1: the file is unchanged.
 */
int queue_file_mark_dropped(int directory, const queue_file *one, enum drop_cause cause);

/* Reads a file, malloc'd. NULL with errno where it cannot be read; errno 0 = it is empty or has
 * become shorter. */
uint8_t *queue_file_read(int directory, const queue_file *one);

#endif
