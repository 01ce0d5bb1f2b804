/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_book.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PUT_OFF_MAX = 64, KEPT_WELL = 8 };

static void forget_pending(wire_book *self)
{
    free(self->pending);
    self->pending = NULL;
    self->pending_length = 0;
}

static void end_book(wire_book *self)
{
    book_writer_free(self->writer);
    self->writer = NULL;
    forget_pending(self);
}

static void lose_book(wire_book *self)
{
    end_book(self);
    self->put_off = self->penalty;
    self->penalty = self->penalty == 0 ? 1 : self->penalty * 2;
    self->penalty = self->penalty < PUT_OFF_MAX ? self->penalty : PUT_OFF_MAX;
    self->kept = 0;
    self->lost++;
}

static bool is_pending(const wire_book *self, const uint8_t id[BATCH_ID_SIZE])
{
    return self->pending != NULL && memcmp(self->pending_id, id, BATCH_ID_SIZE) == 0;
}

void wire_book_acknowledge(wire_book *self, const uint8_t id[BATCH_ID_SIZE])
{
    if (!is_pending(self, id))
        return;
    forget_pending(self);
    self->pages++;
    if (++self->kept >= KEPT_WELL)
        self->penalty = 0;
}

void wire_book_refuse(wire_book *self, const uint8_t id[BATCH_ID_SIZE])
{
    if (is_pending(self, id))
        lose_book(self);
}

void wire_book_clear(wire_book *self)
{
    end_book(self);
}

/* Whether what a book makes of the batch is what the entry holds: the same sender and order. */
static bool tells_body(const batch *one, const Hotstack__V1__Collector *sender,
                       const Hotstack__V1__ProfileBatch *entry)
{
    uint8_t *body = NULL;
    size_t length = 0;
    bool same = batch_pack_body(one, sender, &body, &length) == 0 && length == entry->body.len &&
                memcmp(body, entry->body.data, length) == 0;
    free(body);
    return same;
}

static bool begin_book(wire_book *self)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) == (ssize_t)sizeof(number))
        self->writer = book_writer_new(number);
    return self->writer != NULL;
}

/* Writes the page; a book that it makes larger than the backend takes ends. */
static bool write_page(wire_book *self, const batch *one, const Hotstack__V1__Collector *sender,
                       const uint8_t *digest, uint64_t most)
{
    if (self->writer == NULL && !begin_book(self))
        return false;
    if (book_write(self->writer, one, sender, digest, &self->pending, &self->pending_length) == 0 &&
        book_writer_size(self->writer) <= most) {
        memcpy(self->pending_id, one->id, BATCH_ID_SIZE);
        return true;
    }
    end_book(self);
    return false;
}

static bool copy_pending(const wire_book *self, uint8_t **out, size_t *length)
{
    *out = malloc(self->pending_length);
    *length = self->pending_length;
    if (*out != NULL)
        memcpy(*out, self->pending, self->pending_length);
    return *out != NULL;
}

bool wire_book_page(wire_book *self, const batch *one, const Hotstack__V1__Collector *sender,
                    const Hotstack__V1__ProfileBatch *entry, const wire_shape *shape, uint8_t **out,
                    size_t *length)
{
    if (is_pending(self, one->id))
        return copy_pending(self, out, length);
    if (self->pending != NULL)
        lose_book(self); /* its batch was dropped: what the backend has of it is not known */
    if (shape->book_bytes == 0) {
        end_book(self);
        return false;
    }
    if (self->put_off > 0) {
        self->put_off--;
        return false;
    }
    if (entry->digest.len != 16 || !tells_body(one, sender, entry))
        return false;
    bool is_first = self->writer == NULL;
    return (write_page(self, one, sender, entry->digest.data, shape->book_bytes) ||
            (!is_first && write_page(self, one, sender, entry->digest.data, shape->book_bytes))) &&
           copy_pending(self, out, length);
}
