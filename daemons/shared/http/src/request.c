/* SPDX-License-Identifier: Apache-2.0 */
#include <http/request.h>

#include <stdlib.h>
#include <string.h>

#include "internal.h"

const char *http_request_method(const http_request *request)
{
    return request->method;
}

const char *http_request_path(const http_request *request)
{
    return request->path;
}

const char *http_request_query(const http_request *request)
{
    return request->query;
}

const char *http_request_peer(const http_request *request)
{
    return request->peer;
}

const char *http_request_header(const http_request *request, const char *name)
{
    return request->header != NULL ? request->header(request->header_context, name) : NULL;
}

const char *http_request_cookie(const http_request *request, const char *name, char *out,
                                size_t capacity)
{
    const char *cookies = http_request_header(request, "Cookie");
    size_t name_length = strlen(name);

    for (const char *p = cookies; p != NULL && *p != '\0';) {
        p += strspn(p, " ;");
        size_t length = strcspn(p, ";");
        if (length > name_length && p[name_length] == '=' && strncmp(p, name, name_length) == 0) {
            size_t value_length = length - name_length - 1;
            if (value_length >= capacity)
                return NULL;
            memcpy(out, p + name_length + 1, value_length);
            out[value_length] = '\0';
            return out;
        }
        p += length;
    }
    return NULL;
}

const char *http_request_param(const http_request *request, unsigned index)
{
    return index < HTTP_PATH_PARAMS_MAX ? request->params[index] : NULL;
}

const void *http_request_body(const http_request *request, size_t *length)
{
    *length = request->body_length;
    return request->body != NULL ? request->body : "";
}

void http_request_set_user(http_request *request, void *user, void (*release)(void *user))
{
    request->user = user;
    request->release_user = release;
}

const void *http_request_user(const http_request *request)
{
    return request->user;
}

void http__request_clear(http_request *request)
{
    if (request->release_user != NULL)
        request->release_user(request->user);
    free(request->uri);
    free(request->body);
    for (unsigned i = 0; i < HTTP_PATH_PARAMS_MAX; i++)
        free(request->params[i]);
    memset(request, 0, sizeof(*request));
}
