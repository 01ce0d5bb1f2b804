/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP transport: options, URLs and the port's calls. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql_impl.h"
#include <http/http_impl.h>

static int add_encoded(chs__buffer *url, CURL *easy, const char *text, size_t length)
{
    char *encoded;
    int rc;

    if (!length) /* libcurl reads 0 as "up to the NUL" */
        return 0;
    encoded = length > INT32_MAX ? NULL : curl_easy_escape(easy, text, (int)length);
    if (!encoded)
        return CHS_ERR_NO_MEMORY;
    rc = chs__buffer_text(url, encoded);
    curl_free(encoded);
    return rc;
}

/* Adds "&prefix name=value", with "?" instead of "&" for the first one. */
static int add_query_item(chs__buffer *url, CURL *easy, const char *prefix, const char *name,
                          const chs_bytes *value)
{
    bool has_query = url->data && memchr(url->data, '?', url->length);
    int rc = chs__buffer_text(url, has_query ? "&" : "/?");

    if (!rc)
        rc = chs__buffer_text(url, prefix);
    if (!rc)
        rc = chs__buffer_text(url, name);
    if (!rc)
        rc = chs__buffer_text(url, "=");
    return rc ? rc : add_encoded(url, easy, value->data, value->length);
}

static int add_text_item(chs__buffer *url, CURL *easy, const char *name, const char *text)
{
    chs_bytes value = {text, strlen(text)};

    return add_query_item(url, easy, "", name, &value);
}

static int add_params(chs__buffer *url, CURL *easy, const chs_call *call, chs_error *err)
{
    chs__buffer text = {0};
    size_t i;
    int rc = 0;

    for (i = 0; i < call->param_count && !rc; i++) {
        chs_bytes value;

        text.length = 0;
        rc = chs__param_text(&text, &call->params[i], err);
        value.data = (const char *)text.data;
        value.length = text.length;
        if (!rc)
            rc = add_query_item(url, easy, "param_", call->params[i].name, &value);
    }
    chs__buffer_free(&text);
    return rc;
}

static uint32_t timeout_of(const chs__http *http, const chs_call *call)
{
    return call->timeout_ms ? call->timeout_ms : http->timeout_ms;
}

/* Gathers the library's settings, then the transport's, then the call's, then the token's. */
static int gather_settings(chs__settings *out, const chs__http *http, const chs_call *call,
                           const char *token, const char *seconds, chs_error *err)
{
    chs_setting token_settings[CHS__TOKEN_SETTINGS];
    /* The server makes the whole answer before its status, so that an exception has its code. */
    const chs_setting own[] = {
        {"wait_end_of_query", "1"},
        {"cancel_http_readonly_queries_on_client_close", "1"},
        {"async_insert", "0"},
        {"max_execution_time", seconds},
        {"enable_http_compression", http->answer_compression == CHS_COMPRESSION_NONE ? "0" : "1"},
    };
    int rc = chs__settings_add(out, own, sizeof own / sizeof *own, err);

    if (!rc)
        rc = chs__settings_add(out, http->settings.list, http->settings.count, err);
    if (!rc)
        rc = chs__settings_add(out, call->settings, call->setting_count, err);
    if (!rc && token) {
        chs__token_settings(token_settings, token);
        rc = chs__settings_add(out, token_settings, CHS__TOKEN_SETTINGS, err);
    }
    return rc;
}

/* Makes the URL of a call, NUL-terminated; sql is given when the body has data. */
static int make_url(chs__buffer *url, const chs__http *http, const chs_call *call,
                    const chs__buffer *sql, const char *token, chs_error *err)
{
    chs__settings settings = {0};
    char seconds[24];
    size_t i;
    int rc;

    (void)snprintf(seconds, sizeof seconds, "%" PRIu32, timeout_of(http, call) / 1000 + 1);
    url->max = CHS__MAX_URL;
    rc = gather_settings(&settings, http, call, token, seconds, err);
    if (!rc)
        rc = chs__buffer_text(url, http->url);
    if (!rc)
        rc = add_text_item(url, http->easy, "database", http->database);
    for (i = 0; i < settings.count && !rc; i++)
        rc = add_text_item(url, http->easy, settings.list[i].name, settings.list[i].value);
    if (!rc && sql) {
        chs_bytes text = {(const char *)sql->data, sql->length};

        rc = add_query_item(url, http->easy, "", "query", &text);
    }
    if (!rc)
        rc = add_params(url, http->easy, call, err);
    if (!rc)
        rc = chs__buffer_add(url, "", 1);
    chs__settings_free(&settings);
    if (rc == CHS_ERR_LIMIT)
        return CHS__FAIL(err, rc,
                         "The parameters of a call pass the %d bytes that ClickHouse takes in a "
                         "URL",
                         CHS__MAX_URL);
    return rc ? CHS__FAIL(err, rc, "No memory for the URL of a call") : 0;
}

static void mark_busy(chs__http *http, bool busy)
{
    (void)pthread_mutex_lock(&http->lock);
    http->busy = busy;
    if (busy)
        http->cancelled = false;
    (void)pthread_mutex_unlock(&http->lock);
}

/* Reads the answer's blocks, or only its end when there is no receiver. */
static int read_answer(chs__exchange *exchange, chs_block_fn on_block, void *context,
                       chs_error *err)
{
    chs_reader *reader;
    int rc;

    if (!on_block)
        return chs__exchange_finish(exchange, err);
    rc = chs_reader_open(&reader, chs__exchange_read, exchange, &exchange->http->reader, err);
    if (rc)
        return rc;
    rc = chs__each_block(reader, on_block, context, err);
    rc = chs__exchange_explain(exchange, rc, err);
    chs_reader_close(reader);
    return rc;
}

/* Sends sql, followed by format, as the body. */
static int http_run(chs__http *http, const char *sql, const char *format, const chs_call *call,
                    chs_block_fn on_block, void *context, chs_error *err)
{
    chs__request request = {NULL, {NULL, 0}, http->headers, timeout_of(http, call)};
    chs__buffer url = {0}, body = {0};
    chs__exchange exchange;
    int rc = make_url(&url, http, call, NULL, NULL, err);

    if (!rc && (chs__buffer_text(&body, sql) || chs__buffer_text(&body, format)))
        rc = CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a query");
    mark_busy(http, true);
    if (!rc) {
        request.url = (const char *)url.data;
        request.body.data = (const char *)body.data;
        request.body.length = body.length;
        rc = chs__exchange_begin(&exchange, http, &request, err);
        if (!rc)
            rc = read_answer(&exchange, on_block, context, err);
        chs__exchange_end(&exchange);
    }
    mark_busy(http, false);
    chs__buffer_free(&url);
    chs__buffer_free(&body);
    return rc;
}

static int http_exec(void *self, const char *sql, const chs_call *call, chs_error *err)
{
    return http_run(self, sql, "", call, NULL, NULL, err);
}

/* Pings with a query, because /ping answers without checking the credentials. */
static int http_ping(void *self, const chs_call *call, chs_error *err)
{
    return http_run(self, "SELECT 1", "", call, NULL, NULL, err);
}

static int http_query(void *self, const char *sql, const chs_call *call, chs_block_fn on_block,
                      void *context, chs_error *err)
{
    return http_run(self, sql, "\nFORMAT Native", call, on_block, context, err);
}

static int encode_body(chs__http *http, const chs_bytes *block, chs__request *request,
                       chs_error *err)
{
    int rc;

    request->body = *block;
    if (http->request_compression == CHS_COMPRESSION_NONE)
        return 0;
    rc = chs__compress(&http->compressor, http->request_compression, block, err);
    request->body.data = (const char *)http->compressor.out.data;
    request->body.length = http->compressor.out.length;
    return rc;
}

static int http_insert(void *self, const chs_insert_request *insert, const chs_call *call,
                       chs_error *err)
{
    chs__http *http = self;
    chs__request request = {NULL, {NULL, 0}, http->insert_headers, timeout_of(http, call)};
    chs__buffer url = {0}, sql = {0};
    chs__exchange exchange;
    int rc = chs__insert_sql(&sql, insert, NULL, err);

    if (!rc && chs__buffer_text(&sql, " FORMAT Native"))
        rc = CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for an INSERT");
    if (!rc)
        rc = make_url(&url, http, call, &sql, insert->token, err);
    if (!rc)
        rc = encode_body(http, &insert->block, &request, err);
    mark_busy(http, true);
    if (!rc) {
        request.url = (const char *)url.data;
        rc = chs__exchange_begin(&exchange, http, &request, err);
        if (!rc)
            rc = chs__exchange_finish(&exchange, err);
        chs__exchange_end(&exchange);
    }
    mark_busy(http, false);
    chs__buffer_free(&url);
    chs__buffer_free(&sql);
    return rc;
}

static void http_cancel(void *self)
{
    chs__http *http = self;

    (void)pthread_mutex_lock(&http->lock);
    if (http->busy) {
        http->cancelled = true;
        (void)curl_multi_wakeup(http->multi);
    }
    (void)pthread_mutex_unlock(&http->lock);
}

/* Wipes the headers before freeing them, because one has the password. */
static void wipe_headers(struct curl_slist *headers)
{
    struct curl_slist *header;

    for (header = headers; header; header = header->next)
        explicit_bzero(header->data, strlen(header->data));
    curl_slist_free_all(headers);
}

static void http_close(void *self)
{
    chs__http *http = self;

    curl_easy_cleanup(http->easy);
    if (http->multi)
        (void)curl_multi_cleanup(http->multi);
    wipe_headers(http->headers);
    wipe_headers(http->insert_headers);
    chs__settings_disown(&http->settings);
    chs__compressor_free(&http->compressor);
    free(http->url);
    free(http->database);
    free(http->ca_file);
    (void)pthread_mutex_destroy(&http->lock);
    free(http);
}

static const chs_transport_ops http_ops = {
    sizeof http_ops, http_ping, http_exec, http_insert, http_query, http_cancel, http_close,
};

static int add_header(struct curl_slist **headers, const char *name, const char *value,
                      chs_error *err)
{
    chs__buffer line = {0};
    struct curl_slist *longer = NULL;

    if (!value)
        return 0;
    if (strpbrk(value, "\r\n"))
        return CHS__FAIL(err, CHS_ERR_USAGE, "The header %s would hold a line break", name);
    if (!chs__buffer_text(&line, name) && !chs__buffer_text(&line, ": ") &&
        !chs__buffer_text(&line, value) && !chs__buffer_add(&line, "", 1))
        longer = curl_slist_append(*headers, (const char *)line.data);
    if (line.data)
        explicit_bzero(line.data, line.length);
    chs__buffer_free(&line);
    if (!longer)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
    *headers = longer;
    return 0;
}

static int add_headers(struct curl_slist **headers, const chs_http_options *options,
                       const char *encoding, chs_error *err)
{
    int rc = add_header(headers, "X-ClickHouse-User", options->user, err);

    if (!rc)
        rc = add_header(headers, "X-ClickHouse-Key", options->password, err);
    if (!rc) /* no "Expect: 100-continue", which costs a round trip */
        rc = add_header(headers, "Expect", "", err);
    if (!rc)
        rc = add_header(headers, "Content-Type", "application/octet-stream", err);
    return rc ? rc : add_header(headers, "Content-Encoding", encoding, err);
}

#define SET(option, value) (rc = rc ? rc : curl_easy_setopt(easy, (option), (value)))

static CURLcode set_connection(const chs__http *http)
{
    CURL *easy = http->easy;
    CURLcode rc = CURLE_OK;

    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)http->connect_timeout_ms);
    SET(CURLOPT_USERAGENT, "libchsink/1");
    if (http->ca_file)
        SET(CURLOPT_CAINFO, http->ca_file);
    if (http->answer_compression == CHS_COMPRESSION_GZIP)
        SET(CURLOPT_ACCEPT_ENCODING, "gzip");
    else if (http->answer_compression != CHS_COMPRESSION_NONE)
        SET(CURLOPT_ACCEPT_ENCODING, "zstd");
    return rc;
}

static int check_url(const char *url, chs_error *err)
{
    bool scheme = url && (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0);

    if (scheme && !strpbrk(url, "@?# \t\r\n") && strlen(url) < 1024)
        return 0;
    return CHS__FAIL(err, CHS_ERR_USAGE,
                     "The URL of a ClickHouse server has the form http://host:8123 or "
                     "https://host:8443, without user, password or query");
}

static int copy_strings(chs__http *http, const chs_http_options *options, chs_error *err)
{
    size_t length = strlen(options->url);

    while (length && options->url[length - 1] == '/')
        length--;
    http->url = strndup(options->url, length);
    http->database = strdup(options->database ? options->database : "default");
    http->ca_file = options->ca_file ? strdup(options->ca_file) : NULL;
    if (http->url && http->database && (http->ca_file || !options->ca_file))
        return 0;
    return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
}

static int configure(chs__http *http, const chs_http_options *options, chs_error *err)
{
    static const chs_http_options defaults = CHS_HTTP_OPTIONS_INIT;
    static const chs_reader_options reader = CHS_READER_OPTIONS_INIT;
    int rc = copy_strings(http, options, err);

    http->connect_timeout_ms =
        options->connect_timeout_ms ? options->connect_timeout_ms : defaults.connect_timeout_ms;
    http->timeout_ms = options->timeout_ms ? options->timeout_ms : defaults.timeout_ms;
    http->request_compression = options->request_compression;
    http->answer_compression = options->answer_compression;
    http->reader = reader;
    if (options->max_answer_bytes)
        http->reader.max_bytes = options->max_answer_bytes;
    if (options->max_block_bytes)
        http->reader.max_block_bytes = options->max_block_bytes;
    if (!rc)
        rc = chs__settings_own(&http->settings, options->settings, options->setting_count, err);
    if (!rc)
        rc = add_headers(&http->headers, options, NULL, err);
    if (!rc)
        rc = add_headers(&http->insert_headers, options,
                         chs__compression_name(options->request_compression), err);
    if (rc)
        return rc;
    http->easy = curl_easy_init();
    http->multi = curl_multi_init();
    if (!http->easy || !http->multi || set_connection(http))
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "libcurl cannot make a handle for %s", http->url);
    return 0;
}

int chs_http_open(chs_transport **out, const chs_http_options *options, chs_error *err)
{
    chs_http_options settled = CHS_HTTP_OPTIONS_INIT;
    chs__http *http;
    int rc = chs__options(&settled, sizeof settled, options, "chs_http_options", err);

    *out = NULL;
    if (!rc)
        rc = check_url(settled.url, err);
    if (rc)
        return rc;
    http = calloc(1, sizeof *http);
    if (!http)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
    (void)pthread_mutex_init(&http->lock, NULL);
    rc = configure(http, &settled, err);
    if (!rc)
        rc = chs_transport_new(out, &http_ops, http, err);
    if (rc)
        http_close(http);
    return rc;
}
