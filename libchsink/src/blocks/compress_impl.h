/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses request bodies (Content-Encoding). */
#ifndef CHSINK_SRC_COMPRESS_H
#define CHSINK_SRC_COMPRESS_H

#include <chsink/http.h>

#include "blocks/buffer_impl.h"

/* Returns the coding's HTTP name, NULL for none. */
const char *chs__compression_name(chs_compression compression);

/* The memory reused from one body to the next. Zero-initialise, end with chs__compressor_free. */
typedef struct chs__compressor {
    chs__buffer out;
    struct ZSTD_CCtx_s *zstd;
} chs__compressor;

void chs__compressor_free(chs__compressor *c);

/* Sets c->out to body in this coding, which must not be CHS_COMPRESSION_NONE. Returns 0 or
 * CHS_ERR_NO_MEMORY. */
int chs__compress(chs__compressor *c, chs_compression compression, const chs_bytes *body,
                  chs_error *err);

#endif
