/* SPDX-License-Identifier: Apache-2.0 */
#include <http/response.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "internal.h"

enum { VALUE_MAX = 1024 };

void http__response_init(http_response *response)
{
    memset(response, 0, sizeof(*response));
    response->status = 200;
    response->body = "";
}

static void drop_body(http_response *response)
{
    if (response->owned)
        free((void *)(uintptr_t)response->body);
    response->body = "";
    response->length = 0;
    response->owned = false;
}

void http__response_clear(http_response *response)
{
    drop_body(response);
    for (size_t i = 0; i < response->header_count; i++)
        free(response->headers[i].value);
    http__response_init(response);
}

const char *http__response_find(const http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return NULL;
}

void http_response_status(http_response *response, int status)
{
    response->status = status;
}

void http_response_header(http_response *response, const char *name, const char *value)
{
    size_t at = 0;

    while (at < response->header_count && strcasecmp(response->headers[at].name, name) != 0)
        at++;
    char *copy =
        strlen(value) < VALUE_MAX && http__is_text(value, strlen(value)) ? strdup(value) : NULL;
    if (copy == NULL || at == HTTP_RESPONSE_HEADERS_MAX) {
        free(copy);
        response->failed = true;
        return;
    }
    if (at < response->header_count)
        free(response->headers[at].value);
    else
        response->header_count++;
    response->headers[at].name = name;
    response->headers[at].value = copy;
}

void http_response_take(http_response *response, const char *content_type, char *data,
                        size_t length)
{
    drop_body(response);
    response->body = data;
    response->length = length;
    response->owned = true;
    http_response_header(response, "Content-Type", content_type);
}

void http_response_copy(http_response *response, const char *content_type, const void *data,
                        size_t length)
{
    char *copy = malloc(length > 0 ? length : 1);

    if (copy == NULL) {
        response->failed = true;
        return;
    }
    memcpy(copy, data, length);
    http_response_take(response, content_type, copy, length);
}

void http_response_lend(http_response *response, const char *content_type, const void *data,
                        size_t length)
{
    drop_body(response);
    response->body = data;
    response->length = length;
    http_response_header(response, "Content-Type", content_type);
}

/* Writes text as the content of a JSON string; out needs 6 bytes for each byte of text. */
static size_t escape(char *out, const char *text)
{
    size_t used = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') {
            out[used++] = '\\';
            out[used++] = (char)*p;
        } else if (*p < 0x20) {
            used += (size_t)sprintf(out + used, "\\u%04x", *p);
        } else {
            out[used++] = (char)*p;
        }
    }
    return used;
}

void http_response_error(http_response *response, int status, const char *code, const char *message)
{
    static const char open[] = "{\"error\":{\"code\":\"", middle[] = "\",\"message\":\"";
    char *json = malloc(sizeof(open) + sizeof(middle) + 8 + 6 * (strlen(code) + strlen(message)));
    size_t used = 0;

    response->status = status;
    if (json == NULL) {
        response->failed = true;
        return;
    }
    used = sizeof(open) - 1;
    memcpy(json, open, used);
    used += escape(json + used, code);
    memcpy(json + used, middle, sizeof(middle) - 1);
    used += sizeof(middle) - 1;
    used += escape(json + used, message);
    memcpy(json + used, "\"}}\n", 4);
    http_response_take(response, "application/json", json, used + 4);
}

void http_response_retry_after(http_response *response, unsigned seconds)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", seconds);
    http_response_header(response, "Retry-After", text);
}

bool http_response_etag_of(http_response *response, const char *if_none_match, const void *data,
                           size_t length)
{
    char tag[24];

    snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)XXH3_64bits(data, length));
    http_response_header(response, "ETag", tag);
    if (if_none_match == NULL)
        return false;
    /* A list of tags, weak or not, or "*". A search is enough, since a quoted tag cannot be a part
     * of another. */
    if (strcmp(if_none_match, "*") != 0 && strstr(if_none_match, tag) == NULL)
        return false;
    drop_body(response);
    response->status = 304;
    return true;
}

bool http_response_etag(http_response *response, const char *if_none_match)
{
    return http_response_etag_of(response, if_none_match, response->body, response->length);
}
