/* SPDX-License-Identifier: Apache-2.0 */
#include "page_api.h"

#include <batchform/book.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "checks.h"

/* A page on its way in. */
typedef struct page_call {
    api *api;
    const proto_page *page;
    const scope *allowed;
    book *from;
    batch one;
    size_t *taken;
    bool allowed_cluster;
    verdict *v;
} page_call;

static int take_room(page_call *c, uint64_t bytes)
{
    size_t share = PAYLOAD_COST * (size_t)bytes;

    if (!room_take(&c->api->room, share))
        return verdict_retry(c->v, "over_capacity", 1000,
                             "The backend has no room to unpack %llu bytes now.",
                             (unsigned long long)bytes);
    *c->taken += share;
    return 0;
}

static int find_book(page_call *c)
{
    const proto_page *page = c->page;

    switch (books_take(c->api->books, page->book, page->number, &c->from)) {
    case BOOKS_TAKEN:
        break;
    case BOOKS_OUT:
        return verdict_retry(c->v, "book_busy", 1000, "Another page of the book is in work.");
    case BOOKS_NO_MEMORY:
        return check_no_memory(c->v);
    default:
        return verdict_need_body(c->v, "book_unknown", "The page's book is not here.");
    }
    const uint8_t *id = (const uint8_t *)page->batch_id.data;
    if (book_has_just(c->from, id, (const uint8_t *)page->digest.data)) {
        c->v->outcome = OUTCOME_DUPLICATE;
        c->v->http_status = 200;
        return -1;
    }
    if (book_pages(c->from) != page->number)
        return verdict_need_body(c->v, "book_unknown",
                                 "The book has %u pages; page %u is not next.", book_pages(c->from),
                                 page->number);
    return 0;
}

static int read_page(page_call *c)
{
    const ingest_limits *limits = &c->api->ingest.limits;
    const book_limits own = {.rows = limits->rows_per_batch,
                             .targets = limits->targets_per_batch,
                             .windows = limits->windows_per_batch,
                             .depth = limits->frames_per_stack,
                             .bytes = limits->payload_bytes,
                             .book = limits->book_bytes};
    book_fault fault = {""};
    size_t size = book_content_size(c->page->content.data, c->page->content.length);

    if (size <= own.bytes && take_room(c, size) != 0)
        return -1;
    switch (
        book_read(c->from, c->page->content.data, c->page->content.length, &own, &c->one, &fault)) {
    case BOOK_READ:
        memcpy(c->one.id, c->page->batch_id.data, sizeof(c->one.id));
        return take_room(c, batch_bytes(&c->one));
    case BOOK_NO_MEMORY:
        return check_no_memory(c->v);
    case BOOK_FULL:
        return verdict_need_body(c->v, "book_full", "%s", fault.text);
    case BOOK_TOO_LARGE:
        return verdict_reject(c->v, "payload_too_large", "%s", fault.text);
    default:
        return verdict_need_body(c->v, "book_unreadable", "%s", fault.text);
    }
}

/* The batch as if it had come plain, with the stacks that its page brought or all. */
static int pack_plain(page_call *c, bool all, uint8_t **out, size_t *length)
{
    const uint64_t frames = c->api->ingest.limits.payload_bytes / 4;
    uint8_t digest[16];
    batch stacks;
    enum book_result got = book_stacks(c->from, all, frames, &stacks);

    if (got == BOOK_TOO_LARGE && !all)
        return verdict_reject(c->v, "payload_too_large",
                              "The page's stacks have more than %llu frames.",
                              (unsigned long long)frames);
    if (got == BOOK_TOO_LARGE)
        return verdict_need_body(c->v, "book_too_large",
                                 "The batch's stacks are too many at once.");
    if (got != BOOK_READ)
        return check_no_memory(c->v);
    int rc = batch_pack(&c->one, &stacks, book_sender(c->from), digest, out, length);
    batch_clear(&stacks);
    if (rc != 0)
        return check_no_memory(c->v);
    if (memcmp(digest, c->page->digest.data, sizeof(digest)) == 0)
        return 0;
    free(*out);
    return verdict_need_body(c->v, "book_mismatch", "The page tells another body than was meant.");
}

static void take_plain(page_call *c, bool all)
{
    proto_decoded *decoded = NULL;
    profile_batch plain;
    uint8_t *bytes = NULL;
    size_t length = 0;

    if (pack_plain(c, all, &bytes, &length) != 0)
        return;
    if (take_room(c, length) == 0) {
        if (proto_decode_batch(&decoded, &plain, NULL, bytes, length, c->v) == 0)
            c->allowed_cluster = ingest_profiles(&c->api->ingest, &plain, c->allowed, c->v);
        profile_batch_clear(&plain);
        proto_decoded_free(decoded);
    }
    free(bytes);
}

static void give_back(page_call *c)
{
    bool stored = c->allowed_cluster &&
                  (c->v->outcome == OUTCOME_ACCEPTED || c->v->outcome == OUTCOME_DUPLICATE);

    if (stored && book_pages(c->from) == c->page->number)
        book_keep(c->from, (const uint8_t *)c->page->batch_id.data,
                  (const uint8_t *)c->page->digest.data);
    else
        book_drop(c->from);
    books_give(c->api->books, c->from, c->api->ingest.now_ms(c->api->ingest.clock));
}

bool page_take(api *a, const proto_page *page, const scope *allowed, size_t *taken, verdict *v)
{
    static const uint8_t no_id[BATCH_ID_SIZE];
    page_call c = {.api = a,
                   .page = page,
                   .allowed = allowed,
                   .taken = taken,
                   .allowed_cluster = true,
                   .v = v};

    batch_begin(&c.one, no_id, 0);
    if (a->books == NULL) {
        (void)verdict_need_body(v, "book_unknown", "This backend takes no pages.");
        return true;
    }
    if (page->batch_id.length != BATCH_ID_SIZE || page->digest.length != 16) {
        (void)verdict_reject(v, "malformed", "batch_id and digest must have 16 bytes.");
        return true;
    }
    if (find_book(&c) == 0 && read_page(&c) == 0) {
        take_plain(&c, false);
        if (v->outcome == OUTCOME_NEED_STACKS) {
            /* The book has them: another day, or another service than before. */
            verdict_clear(v);
            take_plain(&c, true);
        }
    }
    if (c.from != NULL)
        give_back(&c);
    batch_clear(&c.one);
    return c.allowed_cluster;
}
