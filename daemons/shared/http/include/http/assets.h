/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/assets.h: files that are served as they are, from a table made once.
 *
 * All files below a directory are read at start. A request is answered from the table by its exact
 * raw path or not at all: no request's bytes ever become a file name. Files that change on disk
 * later are served as they were.
 * Thread rule: after http_assets_load the table is constant; any thread.
 */
#ifndef HTTP_ASSETS_H
#define HTTP_ASSETS_H

#include <stddef.h>

#include <http/error.h>
#include <http/request.h>
#include <http/response.h>

typedef struct http_assets http_assets;

/*
 * Reads every regular file below directory (symbolic links are skipped, as are names that begin
 * with a dot), at most 4,096 files and 64 MiB. "index.html" at the top answers "/" too, and, since
 * the page has routes of its own, every path that has no dot in its last segment and neither
 * /v1/ nor /assets/ in front.
 * Errors: HTTP_ERR_IO (message: which file), HTTP_ERR_LIMIT, HTTP_ERR_NO_MEMORY.
 * Free with http_assets_free (takes NULL).
 */
int http_assets_load(http_assets **out, const char *directory, http_error *err);
void http_assets_free(http_assets *assets);

/* Number of files. */
size_t http_assets_count(const http_assets *assets);

/*
 * Answers from the table: 200 or 304, or 404. Files under assets/ (their names hold a hash of the
 * content) may be kept by browsers for good, the others are asked for again each time.
 */
void http_assets_answer(const http_assets *assets, const http_request *request,
                        http_response *response);

#endif
