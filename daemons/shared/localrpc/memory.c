/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of remembered answers. A new entry replaces the oldest one that is finished. */
#include "localrpc_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    bool used;
    bool running;
    uint8_t id[LOCAL_ID_SIZE];
    uint8_t *request; /* the same id must come with the same bytes */
    size_t request_length;
    uint8_t *answer; /* NULL while the request is being handled */
    size_t length;
} entry;

struct localrpc__memory {
    pthread_mutex_t lock;
    pthread_cond_t finished;
    unsigned capacity;
    unsigned next; /* the entry at which the next search begins */
    entry *entries;
};

localrpc__memory *localrpc__memory_new(unsigned capacity)
{
    localrpc__memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL)
        return NULL;
    memory->entries = calloc(capacity, sizeof(*memory->entries));
    if (memory->entries == NULL) {
        free(memory);
        return NULL;
    }
    memory->capacity = capacity;
    pthread_mutex_init(&memory->lock, NULL);
    pthread_cond_init(&memory->finished, NULL);
    return memory;
}

static void forget(entry *one)
{
    free(one->request);
    free(one->answer);
    *one = (entry){0};
}

void localrpc__memory_free(localrpc__memory *memory)
{
    if (memory == NULL)
        return;
    for (unsigned i = 0; i < memory->capacity; i++)
        forget(&memory->entries[i]);
    free(memory->entries);
    pthread_cond_destroy(&memory->finished);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static entry *find(localrpc__memory *memory, const uint8_t *id)
{
    for (unsigned i = 0; i < memory->capacity; i++) {
        entry *one = &memory->entries[i];
        if (one->used && memcmp(one->id, id, LOCAL_ID_SIZE) == 0)
            return one;
    }
    return NULL;
}

/* Returns the oldest entry for which no call waits; NULL if all are being handled. */
static entry *make_room(localrpc__memory *memory)
{
    for (unsigned i = 0; i < memory->capacity; i++) {
        entry *one = &memory->entries[memory->next];
        memory->next = (memory->next + 1) % memory->capacity;
        if (!one->running) {
            forget(one);
            return one;
        }
    }
    return NULL;
}

static bool remember(localrpc__memory *memory, const uint8_t *id, const uint8_t *request,
                     size_t length)
{
    entry *one = make_room(memory);
    uint8_t *copy = malloc(length + 1);
    if (one == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    memcpy(copy, request, length);
    *one = (entry){.used = true, .running = true, .request = copy, .request_length = length};
    memcpy(one->id, id, LOCAL_ID_SIZE);
    return true;
}

static void copy_answer(const entry *one, const uint8_t *request, size_t request_length,
                        uint8_t **answer, size_t *length)
{
    if (one->answer == NULL || one->request_length != request_length ||
        memcmp(one->request, request, request_length) != 0)
        return;
    *answer = malloc(one->length + 1);
    if (*answer == NULL)
        return;
    memcpy(*answer, one->answer, one->length);
    *length = one->length;
}

bool localrpc__memory_begin(localrpc__memory *memory, const uint8_t id[LOCAL_ID_SIZE],
                            const uint8_t *request, size_t request_length, uint8_t **answer,
                            size_t *length)
{
    *answer = NULL;
    *length = 0;
    pthread_mutex_lock(&memory->lock);
    entry *one = find(memory, id);
    while (one != NULL && one->running) {
        pthread_cond_wait(&memory->finished, &memory->lock);
        one = find(memory, id);
    }
    bool ours = one == NULL && remember(memory, id, request, request_length);
    if (one != NULL)
        copy_answer(one, request, request_length, answer, length);
    pthread_mutex_unlock(&memory->lock);
    return ours;
}

void localrpc__memory_finish(localrpc__memory *memory, const uint8_t id[LOCAL_ID_SIZE],
                             const uint8_t *answer, size_t length)
{
    pthread_mutex_lock(&memory->lock);
    entry *one = find(memory, id);
    if (one != NULL && one->running) {
        one->running = false;
        one->answer = malloc(length + 1);
        if (one->answer != NULL && length > 0)
            memcpy(one->answer, answer, length);
        one->length = one->answer != NULL ? length : 0;
    }
    pthread_cond_broadcast(&memory->finished);
    pthread_mutex_unlock(&memory->lock);
}
