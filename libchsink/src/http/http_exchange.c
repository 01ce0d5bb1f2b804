/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one HTTP request and reads its answer, with libcurl's multi interface, so that the reader
 * can pull bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <http/http_impl.h>

enum { POLL_MS = 1000 };

/* Keeps the last bytes of the body. */
static void keep_tail(chs__exchange *exchange, const char *data, size_t length)
{
    size_t kept = exchange->tail_length;

    if (length >= CHS__TEXT_KEPT) {
        memcpy(exchange->tail, data + length - CHS__TEXT_KEPT, CHS__TEXT_KEPT);
        exchange->tail_length = CHS__TEXT_KEPT;
        return;
    }
    if (kept + length > CHS__TEXT_KEPT) {
        size_t dropped = kept + length - CHS__TEXT_KEPT;

        memmove(exchange->tail, exchange->tail + dropped, kept - dropped);
        kept -= dropped;
    }
    memcpy(exchange->tail + kept, data, length);
    exchange->tail_length = kept + length;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    chs__exchange *exchange = context;
    size_t length = size * count;
    long status = 0;

    (void)curl_easy_getinfo(exchange->http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        size_t room = CHS__TEXT_KEPT - exchange->text.length;

        if (chs__buffer_add(&exchange->text, data, length < room ? length : room))
            return 0;
        return length;
    }
    if (length > exchange->http->reader.max_bytes - exchange->received) {
        exchange->too_long = true;
        return 0;
    }
    exchange->received += length;
    keep_tail(exchange, data, length);
    return chs__buffer_add(&exchange->body, data, length) ? 0 : length;
}

static bool is_header(const char *data, size_t length, const char *name)
{
    return length >= strlen(name) && strncasecmp(data, name, strlen(name)) == 0;
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    static const char exception[] = "X-ClickHouse-Exception-Code:";
    chs__exchange *exchange = context;
    size_t length = size * count, i;

    if (is_header(data, length, "Content-Length:") || is_header(data, length, "Transfer-Encoding:"))
        exchange->framed = true;
    if (!is_header(data, length, exception))
        return length;
    exchange->exception_code = 0;
    for (i = sizeof exception - 1; i < length && exchange->exception_code < 100000; i++)
        if (data[i] >= '0' && data[i] <= '9')
            exchange->exception_code = exchange->exception_code * 10 + (data[i] - '0');
    return length;
}

static bool was_cancelled(chs__http *http)
{
    bool cancelled;

    (void)pthread_mutex_lock(&http->lock);
    cancelled = http->cancelled;
    (void)pthread_mutex_unlock(&http->lock);
    return cancelled;
}

static int class_of_curl(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return CHS_ERR_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
        return CHS_ERR_NO_MEMORY;
    case CURLE_BAD_CONTENT_ENCODING:
        return CHS_ERR_FORMAT;
    case CURLE_URL_MALFORMAT:
        return CHS_ERR_USAGE;
    default:
        return CHS_ERR_NETWORK;
    }
}

static int class_of_status(long status)
{
    switch (status) {
    case 401:
    case 403:
        return CHS_ERR_AUTH;
    case 408:
    case 504:
        return CHS_ERR_TIMEOUT;
    case 429:
    case 502:
    case 503:
        return CHS_ERR_SERVER_RETRY;
    default:
        return CHS_ERR_SERVER_FINAL;
    }
}

/* Finds the exception text at the body's end; returns its code, 0 when there is none. */
static int exception_in_tail(const chs__exchange *exchange, size_t *start)
{
    const char *tail = (const char *)exchange->tail;
    int code = chs__server_code(tail, exchange->tail_length, start);

    if (code && memmem(tail + *start, exchange->tail_length - *start, "DB::Exception", 13))
        return code;
    return 0;
}

static int fail_with_tail(const chs__exchange *exchange, size_t start, chs_error *err)
{
    return chs__fail_server(err, CHS_ERR_SERVER_FINAL, (const char *)exchange->tail + start,
                            exchange->tail_length - start);
}

/* Returns the error of a transfer that broke. */
static int fail_with_curl(const chs__exchange *exchange, chs_error *err)
{
    size_t start = 0;
    int rc;

    if (exchange->too_long)
        return CHS__FAIL(err, CHS_ERR_LIMIT, "The answer passes the limit of %" PRIu64 " bytes",
                         exchange->http->reader.max_bytes);
    if (exception_in_tail(exchange, &start))
        return fail_with_tail(exchange, start, err);
    rc = class_of_curl(exchange->result);
    return CHS__FAIL(err, rc, "ClickHouse at %s: %s", exchange->http->url,
                     exchange->curl_text[0] ? exchange->curl_text
                                            : curl_easy_strerror(exchange->result));
}

/* Returns the error of an answer whose status is not 200. */
static int fail_with_status(const chs__exchange *exchange, long status, chs_error *err)
{
    const char *text = exchange->text.data ? (const char *)exchange->text.data : "";
    int rc = class_of_status(status);

    if (!exchange->text.length)
        rc = CHS__FAIL(err, rc, "ClickHouse at %s answered with HTTP status %ld",
                       exchange->http->url, status);
    else
        rc = chs__fail_server(err, rc, text, exchange->text.length);
    if (!exchange->exception_code)
        return rc;
    rc = chs_server_code_class(exchange->exception_code);
    if (err) {
        err->code = rc;
        err->server_code = exchange->exception_code;
    }
    return rc;
}

/* Returns the result of a finished transfer: 0, or its error. */
static int outcome(chs__exchange *exchange, chs_error *err)
{
    long status = 0;

    if (exchange->result != CURLE_OK)
        return fail_with_curl(exchange, err);
    (void)curl_easy_getinfo(exchange->http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return fail_with_status(exchange, status, err);
    if (!exchange->framed) /* only the connection's end ends it, so it may have been cut anywhere */
        return CHS__FAIL(err, CHS_ERR_NETWORK,
                         "ClickHouse at %s: the answer does not say its length",
                         exchange->http->url);
    return 0;
}

static void collect_result(chs__exchange *exchange)
{
    int left;
    const CURLMsg *message;

    while ((message = curl_multi_info_read(exchange->http->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE)
            continue;
        exchange->done = true;
        exchange->result = message->data.result;
    }
}

/* Advances the transfer until there are body bytes to read or it is done. */
static int advance(chs__exchange *exchange, chs_error *err)
{
    CURLM *multi = exchange->http->multi;

    while (!exchange->done && exchange->used == exchange->body.length) {
        int running = 0;
        CURLMcode code;

        exchange->used = exchange->body.length = 0;
        if (was_cancelled(exchange->http))
            return CHS__FAIL(err, CHS_ERR_CANCELLED, "The call was cancelled");
        code = curl_multi_perform(multi, &running);
        collect_result(exchange);
        if (!code && !exchange->done && !exchange->body.length)
            code = curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
        if (code)
            return CHS__FAIL(err, CHS_ERR_NETWORK, "ClickHouse at %s: %s", exchange->http->url,
                             curl_multi_strerror(code));
    }
    return 0;
}

int chs__exchange_read(void *context, void *buffer, size_t capacity, size_t *length, chs_error *err)
{
    chs__exchange *exchange = context;
    size_t ready;
    int rc = advance(exchange, err);

    *length = 0;
    if (rc)
        return rc;
    ready = exchange->body.length - exchange->used;
    if (!ready)
        return outcome(exchange, err);
    *length = ready < capacity ? ready : capacity;
    memcpy(buffer, exchange->body.data + exchange->used, *length);
    exchange->used += *length;
    return 0;
}

/* Reads to the end of the answer, or at least limit more bytes of it. */
static int drain(chs__exchange *exchange, uint64_t limit, chs_error *err)
{
    uint64_t stop =
        exchange->received > UINT64_MAX - limit ? UINT64_MAX : exchange->received + limit;
    int rc = 0;

    while (!rc && !exchange->done && exchange->received < stop) {
        exchange->used = exchange->body.length;
        rc = advance(exchange, err);
    }
    return rc;
}

int chs__exchange_finish(chs__exchange *exchange, chs_error *err)
{
    size_t start = 0;
    int rc = drain(exchange, UINT64_MAX, err);

    if (!rc)
        rc = outcome(exchange, err);
    if (!rc && exception_in_tail(exchange, &start))
        rc = fail_with_tail(exchange, start, err);
    return rc;
}

int chs__exchange_explain(chs__exchange *exchange, int rc, chs_error *err)
{
    enum { READ_ON = 1 << 20 };
    size_t start = 0;

    if (rc != CHS_ERR_FORMAT)
        return rc;
    if (drain(exchange, READ_ON, NULL) || !exception_in_tail(exchange, &start))
        return rc;
    return fail_with_tail(exchange, start, err);
}

#define SET(option, value) (rc = rc ? rc : curl_easy_setopt(easy, (option), (value)))

static CURLcode set_request(chs__exchange *exchange, const chs__request *request)
{
    CURL *easy = exchange->http->easy;
    CURLcode rc = CURLE_OK;

    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDS, request->body.data);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.length);
    SET(CURLOPT_HTTPHEADER, request->headers);
    SET(CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, exchange);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, exchange);
    SET(CURLOPT_ERRORBUFFER, exchange->curl_text);
    return rc;
}

int chs__exchange_begin(chs__exchange *exchange, chs__http *http, const chs__request *request,
                        chs_error *err)
{
    memset(exchange, 0, sizeof *exchange);
    exchange->http = http;
    if (set_request(exchange, request) || curl_multi_add_handle(http->multi, http->easy))
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a request to %s", http->url);
    exchange->attached = true;
    return 0;
}

void chs__exchange_end(chs__exchange *exchange)
{
    CURL *easy = exchange->http->easy;

    if (exchange->attached)
        (void)curl_multi_remove_handle(exchange->http->multi, easy);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    chs__buffer_free(&exchange->body);
    chs__buffer_free(&exchange->text);
}
