/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/http.h: a transport over ClickHouse's HTTP interface, with libcurl. */
#ifndef CHSINK_HTTP_H
#define CHSINK_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include <chsink/error.h>
#include <chsink/export.h>
#include <chsink/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum chs_compression {
    CHS_COMPRESSION_ZSTD = 0,
    CHS_COMPRESSION_GZIP = 1,
    CHS_COMPRESSION_LZ4 = 2,
    CHS_COMPRESSION_NONE = 3
} chs_compression;

/* All strings are copied. */
typedef struct chs_http_options {
    size_t size;          /* sizeof(chs_http_options); an unknown tail must be zero */
    const char *url;      /* "http://host:8123" or https, no credentials, no query; required */
    const char *database; /* default "default"; must exist before the first call */
    const char *user;     /* default: none sent */
    const char *password; /* sent only as a header, never in the URL */
    const char *ca_file;  /* PEM; NULL: the system's */
    uint32_t connect_timeout_ms;         /* default 5,000 */
    uint32_t timeout_ms;                 /* of a whole call; default 30,000 */
    chs_compression request_compression; /* of inserted blocks; default zstd */
    chs_compression answer_compression;  /* of answers; default zstd (LZ4 becomes zstd) */
    uint64_t max_answer_bytes;           /* decompressed; default 1 GiB */
    uint64_t max_block_bytes;            /* decoded memory of one block; default 256 MiB */
    const chs_setting *settings;         /* sent with every call */
    size_t setting_count;
} chs_http_options;

#define CHS_HTTP_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(chs_http_options), NULL, NULL, NULL, NULL, NULL, 5000, 30000, CHS_COMPRESSION_ZSTD, \
            CHS_COMPRESSION_ZSTD, 1u << 30, 256u << 20, NULL, 0                                    \
    }

/*
 * Opens a transport without sending anything. The connection is kept alive between calls. Redirects
 * are not followed, and the environment's proxies are not used. With a libcurl older than 7.84, the
 * program calls curl_global_init before it starts other threads. Errors: CHS_ERR_USAGE (url,
 * options), CHS_ERR_NO_MEMORY. Close with chs_transport_close.
 */
CHS_EXPORT CHS_MUST_USE int chs_http_open(chs_transport **out, const chs_http_options *options,
                                          chs_error *err);

#ifdef __cplusplus
}
#endif

#endif
