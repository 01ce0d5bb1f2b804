#ifndef JFR_SRC_INPUT_H
#define JFR_SRC_INPUT_H

#include <jfr/error.h>
#include <jfr/options.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether bytes are gzip. */
bool jfr__is_gzip(const void *data, size_t len);

/*
 * Unpacks gzip (also several members in a row) into memory of `alloc`, which the caller frees. A
 * stream that is cut short yields what came before: a recording may end early too.
 * Returns 0, JFR_ERR_FORMAT, JFR_ERR_LIMIT (more than max_bytes) or JFR_ERR_NOMEM.
 */
int jfr__gunzip(void **out, size_t *out_len, const void *data, size_t len, uint64_t max_bytes,
                const jfr_allocator *alloc, jfr_error *err);

/* Maps the file at `path` read-only. An empty file yields NULL and 0. Returns 0 or JFR_ERR_IO. */
int jfr__map_file(void **out, size_t *len, const char *path, jfr_error *err);
void jfr__unmap_file(void *data, size_t len);

#endif
