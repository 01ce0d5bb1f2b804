/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/assets.h: serves files unchanged, from a table made at the start.
 *
 * All files in a directory are read at the start. The exact raw path of a request selects an entry
 * of the table; bytes of a request are never part of a file name. Later changes of the files have
 * no effect. Thread rule: after http_assets_load the table is constant; any thread.
 */
#ifndef HTTP_ASSETS_H
#define HTTP_ASSETS_H

#include <stddef.h>

#include <http/error.h>
#include <http/request.h>
#include <http/response.h>

typedef struct http_assets http_assets;

/*
 * Reads every regular file in a directory and its subdirectories (except symbolic links and names
 * that begin with a dot), at most 4,096 files and 64 MiB. "index.html" at the top also answers "/"
 * and, because the page has routes of its own, every path without a dot in its last segment that
 * does not begin with /v1/ or /assets/.
 * Errors: HTTP_ERR_IO (message: which file), HTTP_ERR_LIMIT, HTTP_ERR_NO_MEMORY.
 * Free with http_assets_free (NULL is allowed).
 */
int http_assets_load(http_assets **out, const char *directory, http_error *err);
void http_assets_free(http_assets *assets);

/* Returns the number of files. */
size_t http_assets_count(const http_assets *assets);

/*
 * Answers from the table: 200 or 304, or 404. Browsers may keep files in assets/ for good, because
 * their names contain a hash of the content; they ask for the others each time.
 */
void http_assets_answer(const http_assets *assets, const http_request *request,
                        http_response *response);

#endif
