/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <config/config.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 200, STATUS_TEXT_MAX = 4096, CONNECT_MS = 10000, KEEP_ALIVE_SECONDS = 30 };

struct client {
    CURL *curl;
    char *url;
    char *token_file;
    client_options options;
    /* the current request */
    const watch_request *request;
    bool started;
    char status_text[STATUS_TEXT_MAX]; /* body of an answer other than 200 */
    size_t status_length;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    client *self = context;
    size_t length = size * count;
    long status = 0;
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == STATUS_OK)
        return self->request->take(self->request->context, bytes, length) == 0 ? length : 0;
    size_t room = sizeof(self->status_text) - self->status_length;
    size_t part = length < room ? length : room;
    memcpy(self->status_text + self->status_length, bytes, part);
    self->status_length += part;
    return length;
}

/* An empty line ends the head. It starts the answer, as a watch may then be silent for a minute. */
static size_t take_head(char *bytes, size_t size, size_t count, void *context)
{
    client *self = context;
    long status = 0;
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == STATUS_OK && !self->started && size * count == 2 && bytes[0] == '\r') {
        self->started = true;
        self->request->started(self->request->context);
    }
    return size * count;
}

static int look_at_end(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const client *self = context;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return self->options.is_ending(self->options.context) ? 1 : 0;
}

static int set_up(client *self, const client_options *options)
{
    CURL *curl = self->curl;
    bool good =
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, self) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, self) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_end) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFODATA, self) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_USERAGENT, options->user_agent) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == CURLE_OK &&
        /* Keep-alive finds a server that has vanished while a watch is silent. */
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, (long)KEEP_ALIVE_SECONDS) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, (long)KEEP_ALIVE_SECONDS / 3) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK;
    if (good && options->ca_file[0] != '\0')
        good = curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file) == CURLE_OK;
    return good ? 0 : -1;
}

client *client_new(const client_options *options, char *message, size_t size)
{
    client *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        self->options = *options;
        self->curl = curl_easy_init();
        self->url = strdup(options->url);
        self->token_file = strdup(options->token_file);
    }
    if (self != NULL && self->curl != NULL && self->url != NULL && self->token_file != NULL &&
        set_up(self, options) == 0)
        return self;
    (void)snprintf(message, size,
                   "cannot set up requests to the API server: no memory, or kubernetes.ca_file is "
                   "wrong");
    client_free(self);
    return NULL;
}

void client_free(client *self)
{
    if (self == NULL)
        return;
    curl_easy_cleanup(self->curl);
    free(self->url);
    free(self->token_file);
    free(self);
}

/* Returns NULL with a sentence in message. */
static struct curl_slist *make_headers(const client *self, const char *accept, char *message,
                                       size_t size)
{
    struct curl_slist *headers = NULL;
    char *token = NULL;
    char *line = NULL;
    config_error err = {0};
    if (asprintf(&line, "Accept: %s", accept) < 0) {
        (void)snprintf(message, size, "out of memory");
        return NULL;
    }
    headers = curl_slist_append(NULL, line);
    free(line);
    line = NULL;
    if (self->token_file[0] == '\0')
        return headers;
    if (config_read_secret(&token, self->token_file, &err) != 0)
        (void)snprintf(message, size, "kubernetes.token_file: %.200s", err.message);
    else if (asprintf(&line, "Authorization: Bearer %s", token) < 0)
        (void)snprintf(message, size, "out of memory");
    else
        headers = curl_slist_append(headers, line);
    if (line == NULL) {
        curl_slist_free_all(headers);
        headers = NULL;
    }
    free(token);
    free(line);
    return headers;
}

static void note_answer(client *self, CURLcode rc, const char *why, watch_answer *out)
{
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &status);
    out->status = (int)status;
    if (curl_easy_getinfo(self->curl, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK &&
        retry_after > 0 && retry_after <= 600)
        out->retry_after_ms = (uint64_t)retry_after * 1000;
    if (rc != CURLE_OK) {
        (void)snprintf(out->message, sizeof(out->message),
                       "no whole answer from the API server %.80s: %.120s", self->url,
                       why[0] != '\0' ? why : curl_easy_strerror(rc));
        out->status = status == STATUS_OK ? STATUS_OK : 0;
    } else if (status != STATUS_OK) {
        api_status_message(self->status_text, self->status_length, out->message,
                           sizeof(out->message));
    }
}

void client_get(client *self, const watch_request *request, watch_answer *out)
{
    char why[CURL_ERROR_SIZE] = "";
    char *url = NULL;
    *out = (watch_answer){0};
    struct curl_slist *headers =
        make_headers(self, request->accept, out->message, sizeof(out->message));
    if (headers == NULL || asprintf(&url, "%s%s", self->url, request->path) < 0) {
        curl_slist_free_all(headers);
        if (out->message[0] == '\0')
            (void)snprintf(out->message, sizeof(out->message), "out of memory");
        return;
    }
    self->request = request;
    self->started = false;
    self->status_length = 0;
    curl_easy_setopt(self->curl, CURLOPT_URL, url);
    curl_easy_setopt(self->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(self->curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    curl_easy_setopt(self->curl, CURLOPT_ERRORBUFFER, why);
    note_answer(self, curl_easy_perform(self->curl), why, out);
    curl_easy_setopt(self->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(self->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    free(url);
}
