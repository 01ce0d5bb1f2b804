/* SPDX-License-Identifier: Apache-2.0 */
#include "books.h"

#include <batchform/book.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct place {
    book *kept; /* NULL while it is out */
    uint64_t number;
    size_t bytes;
    uint64_t used_ms;
} place;

struct books {
    pthread_mutex_t lock;
    size_t most;
    uint64_t idle_ms;
    place *places;
    size_t count, room;
    size_t bytes; /* of those in and out */
    uint64_t unknown, refused;
};

books *books_new(size_t most, uint64_t idle_ms)
{
    books *b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    b->most = most;
    b->idle_ms = idle_ms;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void books_free(books *b)
{
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->count; i++)
        book_free(b->places[i].kept);
    free(b->places);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static place *find(books *b, uint64_t number)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->places[i].number == number)
            return &b->places[i];
    }
    return NULL;
}

static void drop(books *b, place *one)
{
    book_free(one->kept);
    b->bytes -= one->bytes;
    *one = b->places[--b->count];
}

static books_answer begin(books *b, uint64_t number, book **out)
{
    place *fresh = BATCH_NEXT(b->places, b->room, b->count);

    *out = fresh != NULL ? book_new(number) : NULL;
    if (*out == NULL)
        return BOOKS_NO_MEMORY;
    *fresh = (place){.number = number};
    b->count++;
    return BOOKS_TAKEN;
}

books_answer books_take(books *b, uint64_t number, uint32_t page, book **out)
{
    books_answer answer = BOOKS_TAKEN;

    *out = NULL;
    pthread_mutex_lock(&b->lock);
    place *found = find(b, number);
    if (found == NULL && page == 0) {
        answer = begin(b, number, out);
    } else if (found == NULL) {
        b->unknown++;
        answer = BOOKS_UNKNOWN;
    } else if (found->kept == NULL) {
        answer = BOOKS_OUT;
    } else {
        *out = found->kept;
        found->kept = NULL;
    }
    pthread_mutex_unlock(&b->lock);
    return answer;
}

static void drop_idle(books *b, uint64_t now_ms)
{
    for (size_t i = b->count; i-- > 0;) {
        place *one = &b->places[i];
        if (one->kept != NULL && now_ms > one->used_ms && now_ms - one->used_ms > b->idle_ms)
            drop(b, one);
    }
}

void books_give(books *b, book *one, uint64_t now_ms)
{
    pthread_mutex_lock(&b->lock);
    place *own = find(b, book_number(one));
    b->bytes -= own->bytes;
    own->bytes = (size_t)book_size(one);
    b->bytes += own->bytes;
    own->kept = one;
    own->used_ms = now_ms;
    drop_idle(b, now_ms);
    own = find(b, book_number(one));
    if (book_pages(one) == 0) {
        drop(b, own);
    } else if (b->bytes > b->most) {
        drop(b, own);
        b->refused++;
    }
    pthread_mutex_unlock(&b->lock);
}

books_stats books_read(books *b)
{
    pthread_mutex_lock(&b->lock);
    books_stats stats = {b->count, b->bytes, b->unknown, b->refused};
    pthread_mutex_unlock(&b->lock);
    return stats;
}
