/* SPDX-License-Identifier: Apache-2.0 */
#include "router.h"

#include <stdlib.h>
#include <string.h>

#include <http/query.h>

#include "internal.h"

/* The match of a path and a pattern, segment by segment, with the positions of the parameters. */
typedef struct match {
    const char *starts[HTTP_PATH_PARAMS_MAX];
    size_t lengths[HTTP_PATH_PARAMS_MAX];
    unsigned count;
} match;

static bool is_dots(const char *segment, size_t length)
{
    return (length == 1 && segment[0] == '.') ||
           (length == 2 && segment[0] == '.' && segment[1] == '.');
}

static bool match_segment(match *m, const char *pattern, size_t pattern_length, const char *path,
                          size_t length)
{
    if (pattern_length != 2 || memcmp(pattern, "{}", 2) != 0)
        return pattern_length == length && memcmp(pattern, path, length) == 0;
    if (length == 0 || is_dots(path, length) || m->count == HTTP_PATH_PARAMS_MAX)
        return false;
    m->starts[m->count] = path;
    m->lengths[m->count++] = length;
    return true;
}

static bool matches(match *m, const char *pattern, const char *path)
{
    m->count = 0;
    if (strcmp(pattern, "/*") == 0)
        return true;
    while (*pattern == '/' && *path == '/') {
        size_t pattern_length = strcspn(pattern + 1, "/");
        size_t length = strcspn(path + 1, "/");
        if (!match_segment(m, pattern + 1, pattern_length, path + 1, length))
            return false;
        pattern += pattern_length + 1;
        path += length + 1;
    }
    return *pattern == '\0' && *path == '\0';
}

static bool takes_method(const http_route *route, const char *method)
{
    if (route->method == NULL || strcmp(route->method, method) == 0)
        return true;
    return strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0;
}

static bool decode_params(const match *m, http_request *request)
{
    for (unsigned i = 0; i < m->count; i++) {
        request->params[i] = malloc(m->lengths[i] + 1);
        if (request->params[i] == NULL ||
            http_percent_decode(request->params[i], m->starts[i], m->lengths[i], NULL) != 0)
            return false;
    }
    return true;
}

const http_route *http__route_find(const http_route *routes, size_t count, http_request *request,
                                   int *status)
{
    match m;

    *status = 404;
    for (size_t i = 0; i < count; i++) {
        if (!matches(&m, routes[i].pattern, request->path))
            continue;
        /* A catch-all does not make a path known for every method. */
        if (!takes_method(&routes[i], request->method)) {
            *status = 405;
            continue;
        }
        if (*status == 405 && strcmp(routes[i].pattern, "/*") == 0)
            return NULL;
        if (!decode_params(&m, request)) {
            *status = 400;
            return NULL;
        }
        return &routes[i];
    }
    return NULL;
}
