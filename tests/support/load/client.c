/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "ingest.pb-c.h"

enum { ANSWER_MAX = 1 << 20, URL_SIZE = 1024 };

/* The connection of one node. */
typedef struct connection {
    CURL *curl;
    uint8_t *bytes; /* of an answer */
    size_t length;
} connection;

struct client {
    CURLM *all;
    struct curl_slist *headers;
    const char *const *urls;
    size_t url_count, next_url;
    connection *nodes;
    uint32_t node_count;
};

static size_t keep(char *data, size_t size, size_t count, void *context)
{
    connection *to = context;
    size_t length = size * count;

    if (length > ANSWER_MAX - to->length)
        return 0;
    uint8_t *bytes = realloc(to->bytes, to->length + length);
    if (bytes == NULL)
        return 0;
    memcpy(bytes + to->length, data, length);
    to->bytes = bytes;
    to->length += length;
    return length;
}

static int open_connection(client *c, uint32_t index, uint64_t timeout_ms)
{
    connection *to = &c->nodes[index];
    CURL *curl = to->curl = curl_easy_init();

    if (curl == NULL)
        return -1;
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, to);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, (void *)(uintptr_t)index);
    return 0;
}

client *client_new(const char *const *urls, size_t url_count, const char *token, uint32_t nodes,
                   uint64_t timeout_ms)
{
    client *c = calloc(1, sizeof(*c));
    char authorization[1100];

    if (c == NULL)
        return NULL;
    (void)snprintf(authorization, sizeof(authorization), "Authorization: Bearer %s", token);
    c->headers = curl_slist_append(c->headers, authorization);
    c->headers = curl_slist_append(c->headers, "Content-Type: application/x-protobuf");
    c->headers = curl_slist_append(c->headers, "Content-Encoding: zstd");
    c->headers = curl_slist_append(c->headers, "Expect:");
    c->urls = urls;
    c->url_count = url_count;
    c->all = curl_multi_init();
    c->nodes = calloc(nodes, sizeof(*c->nodes));
    int rc = c->all != NULL && c->nodes != NULL ? 0 : -1;
    for (; rc == 0 && c->node_count < nodes; c->node_count++)
        rc = open_connection(c, c->node_count, timeout_ms);
    if (rc == 0) {
        curl_multi_setopt(c->all, CURLMOPT_MAXCONNECTS, (long)nodes);
        return c;
    }
    client_free(c);
    return NULL;
}

void client_free(client *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->node_count; i++) {
        curl_multi_remove_handle(c->all, c->nodes[i].curl);
        curl_easy_cleanup(c->nodes[i].curl);
        free(c->nodes[i].bytes);
    }
    curl_multi_cleanup(c->all);
    curl_slist_free_all(c->headers);
    free(c->nodes);
    free(c);
}

void client_begin(client *c, uint32_t node, call made, const uint8_t *bytes, size_t length)
{
    static const char *const paths[CALLS] = {
        [CALL_BATCH] = "profiles", [CALL_HEARTBEAT] = "heartbeat", [CALL_STATUS] = "status"};
    connection *to = &c->nodes[node];
    char url[URL_SIZE];

    (void)snprintf(url, sizeof(url), "%s/v1/ingest/%s", c->urls[c->next_url++ % c->url_count],
                   paths[made]);
    to->length = 0;
    curl_easy_setopt(to->curl, CURLOPT_URL, url);
    curl_easy_setopt(to->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(to->curl, CURLOPT_POSTFIELDS, bytes);
    curl_easy_setopt(to->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_multi_add_handle(c->all, to->curl);
}

void client_wait(client *c, uint64_t wait_ms)
{
    int running = 0;

    curl_multi_perform(c->all, &running);
    curl_multi_poll(c->all, NULL, 0, (int)wait_ms, NULL);
    curl_multi_perform(c->all, &running);
}

static void read_answer(const connection *from, answer *a)
{
    Hotstack__V1__IngestAnswer *m =
        a->http != 0 ? hotstack__v1__ingest_answer__unpack(NULL, from->length, from->bytes) : NULL;

    if (m == NULL)
        return;
    if ((uint32_t)m->outcome < (uint32_t)ANSWERS)
        a->outcome = (outcome)m->outcome;
    a->retry_after_ms = m->retry_after_ms;
    (void)snprintf(a->code, sizeof(a->code), "%s", m->code);
    hotstack__v1__ingest_answer__free_unpacked(m, NULL);
}

bool client_take(client *c, uint32_t *node, answer *a, uint64_t *took_us)
{
    int left = 0;
    const CURLMsg *message = curl_multi_info_read(c->all, &left);
    curl_off_t took = 0;
    char *index = NULL;

    if (message == NULL)
        return false;
    CURL *curl = message->easy_handle;
    bool answered = message->data.result == CURLE_OK;
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &index);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &took);
    *node = (uint32_t)(uintptr_t)index;
    *took_us = (uint64_t)took;
    *a = (answer){0};
    if (answered)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->http);
    curl_multi_remove_handle(c->all, curl);
    read_answer(&c->nodes[*node], a);
    return true;
}
