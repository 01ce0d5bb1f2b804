/* SPDX-License-Identifier: Apache-2.0 */
/* Content codings of chdb-http: those that ClickHouse accepts and sends. */
#ifndef CHDB_HTTP_CODING_H
#define CHDB_HTTP_CODING_H

#include "blocks/buffer_impl.h"

enum { CODING_MAX_BYTES = 1 << 30 };

/* Sets out to body without its coding (gzip, deflate, zstd, lz4). Returns NULL, or the error. */
const char *decode_body(chs__buffer *out, const char *coding, const chs__buffer *body);

/* Encodes body with the first known coding of accepted; returns NULL when there is none. */
const char *encode_body(chs__buffer *body, const char *accepted);

#endif
