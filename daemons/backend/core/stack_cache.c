/* SPDX-License-Identifier: Apache-2.0 */
#include "stack_cache.h"

#include <base/seeded_hash.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One stack in one block of memory: its frames, then their texts. */
typedef struct entry {
    struct entry *same_slot;
    struct entry *newer, *older; /* in the order of their last use */
    size_t bytes;
    unsigned users; /* calls that read it now, plus one for the cache */
    uint8_t id[STACK_ID_BYTES];
    unsigned flags;
    size_t depth;
    stack_frame frames[];
} entry;

/* A stack of 40 frames takes about 4 KiB: two slots for it keep chains short. */
enum { BYTES_PER_SLOT = 2048 };

struct stack_cache {
    pthread_mutex_t lock;
    size_t most;
    entry *newest, *oldest;
    stack_cache_stats stats;
    size_t slot_count;
    entry *slots[];
};

stack_cache *stack_cache_new(size_t bytes)
{
    size_t slots = bytes / BYTES_PER_SLOT + 1;
    stack_cache *c = calloc(1, sizeof(*c) + slots * sizeof(c->slots[0]));

    if (c == NULL)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->slot_count = slots;
    c->most = bytes;
    c->stats.bytes = slots * sizeof(c->slots[0]);
    return c;
}

static void release(entry *e)
{
    if (--e->users == 0)
        free(e);
}

void stack_cache_free(stack_cache *c)
{
    if (c == NULL)
        return;
    for (entry *e = c->newest; e != NULL;) {
        entry *older = e->older;
        free(e);
        e = older;
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Returns where the chain of an id holds the stack, or ends. */
static entry **find(stack_cache *c, const uint8_t *id)
{
    entry **at = &c->slots[seeded_hash(id, STACK_ID_BYTES) % c->slot_count];

    while (*at != NULL && memcmp((*at)->id, id, STACK_ID_BYTES) != 0)
        at = &(*at)->same_slot;
    return at;
}

static void unlink_by_use(stack_cache *c, entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &c->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_as_newest(stack_cache *c, entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest != NULL ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

/* Removes a stack; its memory is freed when no call reads it any more. */
static void evict(stack_cache *c, entry *e)
{
    *find(c, e->id) = e->same_slot;
    unlink_by_use(c, e);
    c->stats.bytes -= e->bytes;
    c->stats.stacks--;
    c->stats.evictions++;
    release(e);
}

int stack_cache_give(stack_cache *c, const uint8_t *stack_id, stack_fn each, void *context,
                     bool *found)
{
    *found = false;
    if (c == NULL)
        return 0;
    pthread_mutex_lock(&c->lock);
    entry *e = *find(c, stack_id);
    *found = e != NULL;
    if (e == NULL) {
        c->stats.misses++;
        pthread_mutex_unlock(&c->lock);
        return 0;
    }
    c->stats.hits++;
    unlink_by_use(c, e);
    link_as_newest(c, e);
    e->users++;
    pthread_mutex_unlock(&c->lock);
    const stack_row row = {e->id, e->flags, e->frames, e->depth};
    int rc = each(context, &row);
    pthread_mutex_lock(&c->lock);
    release(e);
    pthread_mutex_unlock(&c->lock);
    return rc;
}

/* Whether the text is the same as in the frame before. Adjacent frames often share class and file,
 * which are stored once. */
static bool repeats(const stack_row *row, size_t frame, text (*of)(const stack_frame *frame))
{
    return frame > 0 && text_equal(of(&row->frames[frame]), of(&row->frames[frame - 1]));
}

static text class_of(const stack_frame *frame)
{
    return frame->class_name;
}

static text file_of(const stack_frame *frame)
{
    return frame->file;
}

static size_t size_of(const stack_row *row)
{
    size_t bytes = sizeof(entry) + row->depth * sizeof(stack_frame);

    for (size_t i = 0; i < row->depth; i++) {
        bytes += row->frames[i].method.length;
        bytes += repeats(row, i, class_of) ? 0 : row->frames[i].class_name.length;
        bytes += repeats(row, i, file_of) ? 0 : row->frames[i].file.length;
    }
    return bytes;
}

static text copy(char **to, text from)
{
    text made = {*to, from.length};

    if (from.length > 0)
        memcpy(*to, from.data, from.length);
    *to += from.length;
    return made;
}

static entry *make_entry(const stack_row *row, size_t bytes)
{
    entry *e = malloc(bytes);

    if (e == NULL)
        return NULL;
    *e = (entry){.bytes = bytes, .users = 1, .flags = row->flags, .depth = row->depth};
    memcpy(e->id, row->stack_id, STACK_ID_BYTES);
    char *end = (char *)&e->frames[row->depth];
    for (size_t i = 0; i < row->depth; i++) {
        const stack_frame *from = &row->frames[i];
        e->frames[i] = *from;
        e->frames[i].class_name =
            repeats(row, i, class_of) ? e->frames[i - 1].class_name : copy(&end, from->class_name);
        e->frames[i].method = copy(&end, from->method);
        e->frames[i].file =
            repeats(row, i, file_of) ? e->frames[i - 1].file : copy(&end, from->file);
    }
    return e;
}

void stack_cache_put(stack_cache *c, const stack_row *row)
{
    size_t bytes = size_of(row);

    if (c == NULL || bytes > c->most / 16)
        return;
    entry *e = make_entry(row, bytes);
    if (e == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    entry **at = find(c, e->id);
    if (*at != NULL) {
        release(e);
    } else {
        *at = e;
        link_as_newest(c, e);
        c->stats.bytes += bytes;
        c->stats.stacks++;
        for (entry *old = c->oldest; c->stats.bytes > c->most && old != e;) {
            entry *newer = old->newer;
            evict(c, old);
            old = newer;
        }
    }
    pthread_mutex_unlock(&c->lock);
}

stack_cache_stats stack_cache_read(stack_cache *c)
{
    stack_cache_stats stats = {0};

    if (c == NULL)
        return stats;
    pthread_mutex_lock(&c->lock);
    stats = c->stats;
    pthread_mutex_unlock(&c->lock);
    return stats;
}
