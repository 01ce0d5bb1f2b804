/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_INTERNAL_H
#define IMPORT_INTERNAL_H

#include <import/import.h>

/* Fills in defaults. Returns 0 or RECORDING_E_USAGE. */
int import__options(import_options *out, const import_options *given, recording_error *err);

/* Fails with a formatted message. */
__attribute__((format(printf, 4, 5))) int import__fail(recording_error *err, int code,
                                                       uint64_t offset, const char *format, ...);

/* The frames of the stack that is being read, leaf first. Zeroed = empty; free `at`. */
typedef struct import__frames {
    sagg_frame *at;
    size_t count;
    size_t room;
} import__frames;

/*
 * Adds a frame; at most IMPORT_MAX_FRAMES, as few bytes of an input can stand for many frames.
 * `what` and `number` name the stack in the message: "sample", 7. Returns 0, RECORDING_E_LIMIT or
 * RECORDING_E_NOMEM.
 */
int import__push_frame(import__frames *list, const sagg_frame *frame, const char *what,
                       uint64_t number, recording_error *err);

/* Whether data begins like gzip. */
bool import__is_gzip(const void *data, size_t size);

/*
 * Unpacks gzip (several members, too). The caller frees *out. Returns 0; RECORDING_E_FORMAT with
 * the offset; RECORDING_E_LIMIT for more than `limit` bytes; RECORDING_E_NOMEM.
 */
int import__gunzip(void **out, size_t *out_size, const void *data, size_t size, uint64_t limit,
                   recording_error *err);
/* Unpacks the first bytes of gzip data. Returns how many. */
size_t import__gunzip_head(void *out, size_t room, const void *data, size_t size);

#endif
