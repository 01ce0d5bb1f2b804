/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which batches go as pages of a book, and when a new book begins. One thread's (the uploader's),
 * but wire_book_read may be called by any.
 */
#ifndef COLLECTOR_ADAPTERS_WIRE_BOOK_H
#define COLLECTOR_ADAPTERS_WIRE_BOOK_H

#include "wire.h"

#include <batchform/book.h>
#include <stdatomic.h>

/* Zero it to begin. */
typedef struct wire_book {
    book_writer *writer; /* NULL: none is begun */
    /* The page that was sent last, until it is acknowledged; NULL: none. */
    uint8_t *pending;
    size_t pending_length;
    uint8_t pending_id[BATCH_ID_SIZE];
    /* A book that was lost costs more than it saved: after each the next is put off for longer. */
    unsigned put_off, penalty, kept;
    atomic_uint_fast64_t pages, lost;
} wire_book;

/*
 * The batch as the next page, *out malloc'd. False: it is to go plain, because the backend takes no
 * pages (size = 0), a book was lost just now, or no page can tell it. `entry`: its message with a
 * body.
 */
bool wire_book_page(wire_book *self, const batch *one, const Hotstack__V1__Collector *sender,
                    const Hotstack__V1__ProfileBatch *entry, const wire_shape *shape, uint8_t **out,
                    size_t *length);

/* A batch was acknowledged. */
void wire_book_acknowledge(wire_book *self, const uint8_t id[BATCH_ID_SIZE]);

/* A batch goes plain though it was sent as a page: the backend did not know the book. */
void wire_book_refuse(wire_book *self, const uint8_t id[BATCH_ID_SIZE]);

void wire_book_clear(wire_book *self);

#endif
