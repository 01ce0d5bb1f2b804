/* SPDX-License-Identifier: Apache-2.0 */
/* adapters/httpapi/page_api.h: a batch that came as a page of a book. */
#ifndef BACKEND_PAGE_API_H
#define BACKEND_PAGE_API_H

#include "api.h"
#include "decode.h"

/*
 * Reads the page, takes in the batch that it tells, and keeps the book where that was stored. What
 * no book tells is answered with need_body. *taken: of the room, to be given back. Returns false
 * when the token's scope forbids the batch's cluster.
 */
bool page_take(api *a, const proto_page *page, const scope *allowed, size_t *taken, verdict *v);

#endif
