/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_INPUT_H
#define JFR_SRC_INPUT_H

#include <jfr/error.h>
#include <jfr/options.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing array of bytes. Free it with jfr__buffer_free. */
typedef struct jfr__buffer {
    const jfr_allocator *alloc;
    uint8_t *data;
    size_t len;
    size_t cap;
} jfr__buffer;

/* Reserves space for `more` bytes after len. Returns 0 or JFR_ERR_NOMEM. */
int jfr__buffer_reserve(jfr__buffer *buffer, size_t more, jfr_error *err);
void jfr__buffer_free(jfr__buffer *buffer);

/* Returns whether the bytes are gzip. */
bool jfr__is_gzip(const void *data, size_t len);

/* An unpacked gzip input. The caller frees its memory with the allocator. */
typedef struct jfr__unpacked {
    void *data;
    size_t len;
    bool damaged;  /* the input is cut, its checksum is wrong, or other bytes follow its end */
    uint64_t left; /* packed bytes after the damage */
} jfr__unpacked;

/*
 * Unpacks a whole gzip input. If the input is cut or damaged, the result has the bytes before the
 * damage, `err` describes the damage, and the function returns 0: the start of a recording is still
 * useful. Returns 0, JFR_ERR_FORMAT (nothing could be unpacked), JFR_ERR_LIMIT (more than
 * max_bytes) or JFR_ERR_NOMEM.
 */
int jfr__gunzip(jfr__unpacked *out, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err);

/*
 * Maps the file at `path` read-only, or reads it on a system without mmap. For an empty file it
 * gives NULL and 0. Returns 0, JFR_ERR_IO or JFR_ERR_NOMEM.
 */
int jfr__map_file(void **out, size_t *len, const char *path, jfr_error *err);
void jfr__unmap_file(void *data, size_t len);

/* Gives the size of an open regular file; messages call it `name`. Returns 0 or JFR_ERR_IO. */
int jfr__fd_size(int fd, uint64_t *size, const char *name, jfr_error *err);
/* Reads `len` bytes at `offset`, or as many as there are. Returns 0 or JFR_ERR_IO. */
int jfr__fd_read(int fd, uint64_t offset, void *data, size_t len, size_t *got, jfr_error *err);

#endif
