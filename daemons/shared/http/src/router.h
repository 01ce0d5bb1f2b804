/* SPDX-License-Identifier: Apache-2.0 */
/* Private: finds the route of a request. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include <http/error.h>
#include <http/server.h>

/*
 * Finds the route of request->method and request->path and decodes its parameters into the request.
 * Returns the route, or NULL with *status = 404, 405, or 400 (a parameter that does not decode).
 */
const http_route *http__route_find(const http_route *routes, size_t count, http_request *request,
                                   int *status);

#endif
