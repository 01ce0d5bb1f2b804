/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP transport's state: shared by http.c (options, calls) and http_exchange.c (one exchange).
 */
#ifndef CHSINK_SRC_HTTP_H
#define CHSINK_SRC_HTTP_H

#include <curl/curl.h>
#include <pthread.h>

#include <chsink/http.h>

#include "blocks/compress_impl.h"
#include "settings_impl.h"

enum {
    CHS__TEXT_KEPT = 4096, /* bytes kept of an error's text, and of an answer's end */
    CHS__MAX_URL = 1 << 20 /* ClickHouse's http_max_uri_size */
};

typedef struct chs__http {
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers;        /* sent with every request but inserts */
    struct curl_slist *insert_headers; /* the same and a Content-Encoding */
    char *url;                         /* without a trailing slash */
    char *database;
    char *ca_file;
    uint32_t connect_timeout_ms;
    uint32_t timeout_ms;
    chs_compression request_compression;
    chs_compression answer_compression;
    chs_reader_options reader;
    chs__settings settings;
    chs__compressor compressor; /* of request bodies */
    pthread_mutex_t lock;
    bool busy; /* under the lock, as is the next */
    bool cancelled;
} chs__http;

/* The data of one request. body is borrowed until the exchange ends. */
typedef struct chs__request {
    const char *url;
    chs_bytes body;
    struct curl_slist *headers;
    uint32_t timeout_ms;
} chs__request;

/* One request and its answer, pulled by the reader. */
typedef struct chs__exchange {
    chs__http *http;
    chs__buffer body; /* of a 200, not yet read */
    size_t used;
    uint64_t received; /* of the body, decompressed */
    chs__buffer text;  /* of any other status: the first CHS__TEXT_KEPT bytes */
    unsigned char
        tail[CHS__TEXT_KEPT]; /* of a 200: the last bytes, for an exception in the middle */
    size_t tail_length;
    int exception_code; /* X-ClickHouse-Exception-Code */
    bool framed;        /* the answer states where it ends */
    bool too_long;
    bool attached;
    bool done;
    CURLcode result;
    char curl_text[CURL_ERROR_SIZE];
} chs__exchange;

/* Starts an exchange. Always paired with chs__exchange_end. */
int chs__exchange_begin(chs__exchange *exchange, chs__http *http, const chs__request *request,
                        chs_error *err);

/* A chs_read_fn that waits for the answer's body. Fails when the status is not 200. */
int chs__exchange_read(void *context, void *buffer, size_t capacity, size_t *length,
                       chs_error *err);

/* Reads the answer to its end and drops it; finds an exception in a 200. */
int chs__exchange_finish(chs__exchange *exchange, chs_error *err);

/* Replaces the error of a reader that refused the answer's bytes: if they end in an exception's
 * text, that is the error. rc and err are the reader's; returns rc or the exception's class. */
int chs__exchange_explain(chs__exchange *exchange, int rc, chs_error *err);

void chs__exchange_end(chs__exchange *exchange);

#endif
