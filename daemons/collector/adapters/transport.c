/* SPDX-License-Identifier: Apache-2.0 */
#include "transport.h"

#include "wire.h"

#include <config/config.h>
#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

enum { ANSWER_MAX = 8 * 1024 * 1024, UPLOAD_LEVEL = 6 };

struct transport {
    CURL *curl;
    ZSTD_CCtx *zstd;
    char *url;
    char *token;
    char *token_file;
    struct timespec token_time; /* of the file, when the token was read */
    ino_t token_inode;
    uint64_t generation;
    uint8_t *answer;
    size_t answer_length;
    uint64_t retry_after_ms;
    atomic_uint_fast64_t sent;
    atomic_bool is_aborted;
};

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
    transport *self = context;
    size_t length = size * count;
    if (length > ANSWER_MAX - self->answer_length)
        return 0;
    uint8_t *grown = realloc(self->answer, self->answer_length + length + 1);
    if (grown == NULL)
        return 0;
    self->answer = grown;
    memcpy(self->answer + self->answer_length, bytes, length);
    self->answer_length += length;
    return length;
}

static int look_at_abort(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    transport *self = context;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return atomic_load(&self->is_aborted) ? 1 : 0;
}

static int set_up(transport *self, const transport_options *options)
{
    CURL *curl = self->curl;
    bool good =
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, self) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_abort) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_XFERINFODATA, self) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_USERAGENT, options->user_agent) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, options->timeout_ms) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, options->timeout_ms) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK;
    if (good && options->ca_file[0] != '\0')
        good = curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file) == CURLE_OK;
    return good ? 0 : -1;
}

static void read_token(transport *self)
{
    struct stat at;
    char *token = NULL;
    if (self->token_file == NULL || stat(self->token_file, &at) != 0 ||
        (at.st_mtim.tv_sec == self->token_time.tv_sec &&
         at.st_mtim.tv_nsec == self->token_time.tv_nsec && at.st_ino == self->token_inode))
        return;
    if (config_read_secret(&token, self->token_file, NULL) != 0)
        return; /* half-written: the next look reads it */
    self->token_time = at.st_mtim;
    self->token_inode = at.st_ino;
    if (strcmp(token, self->token) == 0) {
        free(token);
        return;
    }
    free(self->token);
    self->token = token;
    self->generation++;
}

transport *transport_new(const transport_options *options, char *message, size_t size)
{
    transport *self = calloc(1, sizeof(*self));
    if (self != NULL) {
        self->curl = curl_easy_init();
        self->zstd = ZSTD_createCCtx();
        self->url = strdup(options->url);
        self->token = strdup(options->token);
        self->token_file = options->token_file != NULL ? strdup(options->token_file) : NULL;
    }
    if (self == NULL || self->curl == NULL || self->zstd == NULL || self->url == NULL ||
        self->token == NULL || set_up(self, options) != 0) {
        (void)snprintf(message, size,
                       "cannot set up uploads: no memory, or backend.ca_file is wrong");
        transport_free(self);
        return NULL;
    }
    size_t length = strlen(self->url);
    if (length > 0 && self->url[length - 1] == '/')
        self->url[length - 1] = '\0';
    read_token(self);
    return self;
}

void transport_free(transport *self)
{
    if (self == NULL)
        return;
    curl_easy_cleanup(self->curl);
    ZSTD_freeCCtx(self->zstd);
    free(self->url);
    free(self->token);
    free(self->token_file);
    free(self->answer);
    free(self);
}

void transport_abort(transport *self)
{
    atomic_store(&self->is_aborted, true);
}

uint64_t transport_token_generation(void *context)
{
    transport *self = context;
    read_token(self);
    return self->generation;
}

uint64_t transport_sent_bytes(const transport *self)
{
    return atomic_load(&((transport *)(uintptr_t)self)->sent);
}

static struct curl_slist *headers_of(const transport *self)
{
    char *authorization = NULL;
    struct curl_slist *headers = NULL;
    static const char *const fixed[] = {"Content-Type: application/x-protobuf",
                                        "Content-Encoding: zstd", "Expect:"};
    if (asprintf(&authorization, "Authorization: Bearer %s", self->token) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        headers = curl_slist_append(headers, fixed[i]);
    if (self->token[0] != '\0')
        headers = curl_slist_append(headers, authorization);
    free(authorization);
    return headers;
}

static void perform(transport *self, const char *url, const void *body, size_t length,
                    upload_answer *out)
{
    char why[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = headers_of(self);
    long status = 0;
    curl_off_t retry_after = 0;
    self->answer_length = 0;
    curl_easy_setopt(self->curl, CURLOPT_URL, url);
    curl_easy_setopt(self->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(self->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(self->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(self->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_easy_setopt(self->curl, CURLOPT_ERRORBUFFER, why);
    CURLcode rc = curl_easy_perform(self->curl);
    curl_easy_setopt(self->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    if (rc == CURLE_ABORTED_BY_CALLBACK) {
        (void)snprintf(out->message, sizeof(out->message), "given up, since the collector ends");
        return;
    }
    if (rc != CURLE_OK) {
        (void)snprintf(out->message, sizeof(out->message), "%.100s: %.120s", url,
                       why[0] != '\0' ? why : curl_easy_strerror(rc));
        return;
    }
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &status);
    if (curl_easy_getinfo(self->curl, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK &&
        retry_after > 0)
        out->retry_after_ms = (uint64_t)retry_after * 1000;
    const char *type = NULL;
    curl_easy_getinfo(self->curl, CURLINFO_CONTENT_TYPE, &type);
    bool refused = status == 401 || status == 403;
    if (!refused && type != NULL && strncmp(type, "application/x-protobuf", 22) == 0)
        wire_read_answer(self->answer, self->answer_length, out);
    if (out->outcome != UPLOAD_NO_ANSWER)
        return;
    if (refused)
        out->refusal = UPLOAD_UNAUTHORISED;
    else if (status == 413)
        out->refusal = UPLOAD_TOO_LARGE;
    (void)snprintf(out->message, sizeof(out->message), "%.150s answered HTTP %ld%s", url, status,
                   refused ? "; see backend.token" : " without an answer of the contract");
}

void transport_post(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                    upload_answer *out)
{
    static const char *const paths[] = {
        [UPLOAD_PROFILES] = "/v1/ingest/profiles",
        [UPLOAD_STATUS] = "/v1/ingest/status",
        [UPLOAD_HEARTBEAT] = "/v1/ingest/heartbeat",
    };
    transport *self = context;
    char url[1024];
    *out = (upload_answer){0};
    read_token(self);
    (void)snprintf(url, sizeof(url), "%s%s", self->url, paths[call]);
    size_t room = ZSTD_compressBound(length);
    void *body = malloc(room);
    size_t body_length =
        body != NULL ? ZSTD_compressCCtx(self->zstd, body, room, bytes, length, UPLOAD_LEVEL) : 0;
    if (body == NULL || ZSTD_isError(body_length)) {
        (void)snprintf(out->message, sizeof(out->message), "out of memory");
    } else {
        perform(self, url, body, body_length, out);
        atomic_fetch_add(&self->sent, body_length);
    }
    free(body);
}
