/* SPDX-License-Identifier: Apache-2.0 */
#include "admission.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

enum { WAYS = 4 }; /* places where a decision may be kept */

typedef struct decision {
    uint8_t token[SHA256_DIGEST_SIZE];
    const principal *who; /* held; NULL: free */
    uint64_t until_ms;
} decision;

struct admission {
    admission_options options;
    pthread_mutex_t lock; /* guards the following members */
    unsigned asking;
    uint64_t generation; /* counts how often all decisions were forgotten */
    admission_stats stats;
    size_t places;
    decision kept[];
};

admission *admission_new(const admission_options *options)
{
    size_t places = (options->kept + WAYS - 1) / WAYS * WAYS;
    admission *a = calloc(1, sizeof(*a) + places * sizeof(a->kept[0]));

    if (a == NULL)
        return NULL;
    a->options = *options;
    a->places = places;
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

static void drop(admission *a, decision *one)
{
    if (one->who == NULL)
        return;
    principal_release(one->who);
    *one = (decision){0};
    a->stats.kept--;
}

static void drop_all(admission *a)
{
    for (size_t i = 0; i < a->places; i++)
        drop(a, &a->kept[i]);
}

void admission_free(admission *a)
{
    if (a == NULL)
        return;
    drop_all(a);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void hash_token(uint8_t out[SHA256_DIGEST_SIZE], const char *token, size_t length)
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, length, (const uint8_t *)token);
    sha256_digest(&context, SHA256_DIGEST_SIZE, out);
    explicit_bzero(&context, sizeof(context));
}

/* Returns the first of a token's places; NULL where nothing is kept. */
static decision *places_of(admission *a, const uint8_t *token)
{
    uint64_t number;

    if (a->places == 0)
        return NULL;
    memcpy(&number, token, sizeof(number));
    return &a->kept[number % (a->places / WAYS) * WAYS];
}

/* Returns the kept decision, held; NULL: there is none. */
static const principal *find(admission *a, const uint8_t *token, uint64_t now_ms)
{
    decision *from = places_of(a, token);

    for (size_t i = 0; from != NULL && i < WAYS; i++) {
        decision *one = &from[i];
        if (one->who == NULL || memcmp(one->token, token, sizeof(one->token)) != 0)
            continue;
        /* If the clock was set back, the decision must not live longer. */
        if (now_ms < one->until_ms && one->until_ms - now_ms <= a->options.keep_ms)
            return principal_hold(one->who);
        drop(a, one);
    }
    return NULL;
}

/* Replaces the decision that ends first. */
static void keep(admission *a, const uint8_t *token, const principal *who, uint64_t now_ms)
{
    decision *from = places_of(a, token), *place = from;

    if (from == NULL)
        return;
    for (size_t i = 1; i < WAYS; i++) {
        if (from[i].until_ms < place->until_ms)
            place = &from[i];
    }
    drop(a, place);
    memcpy(place->token, token, sizeof(place->token));
    place->who = principal_hold(who);
    place->until_ms = now_ms + a->options.keep_ms;
    a->stats.kept++;
}

/* Asks the authenticator without the lock, and asks again if the principals changed during the
 * question. */
static admission_answer ask(admission *a, const uint8_t *hash, const char *token, size_t length,
                            const principal **who)
{
    admission_answer answer;
    uint64_t generation;

    do {
        generation = a->generation;
        pthread_mutex_unlock(&a->lock);
        answer = a->options.ops->decide(a->options.self, token, length, who);
        pthread_mutex_lock(&a->lock);
        if (generation != a->generation) {
            principal_release(*who);
            *who = NULL;
        }
    } while (generation != a->generation);
    if (answer == ADMISSION_KNOWN)
        keep(a, hash, *who, a->options.now_ms(a->options.clock));
    return answer;
}

admission_answer admission_decide(admission *a, const char *token, size_t length,
                                  const principal **who)
{
    uint8_t hash[SHA256_DIGEST_SIZE];
    admission_answer answer = ADMISSION_UNDECIDED;

    hash_token(hash, token, length);
    pthread_mutex_lock(&a->lock);
    *who = find(a, hash, a->options.now_ms(a->options.clock));
    if (*who != NULL) {
        a->stats.hits++;
        answer = ADMISSION_KNOWN;
    } else if (a->asking < a->options.asking) {
        a->stats.misses++;
        a->asking++;
        answer = ask(a, hash, token, length, who);
        a->asking--;
    }
    a->stats.undecided += answer == ADMISSION_UNDECIDED;
    pthread_mutex_unlock(&a->lock);
    return answer;
}

void admission_forget(admission *a)
{
    pthread_mutex_lock(&a->lock);
    a->generation++;
    drop_all(a);
    pthread_mutex_unlock(&a->lock);
}

admission_stats admission_read(admission *a)
{
    pthread_mutex_lock(&a->lock);
    admission_stats stats = a->stats;
    pthread_mutex_unlock(&a->lock);
    return stats;
}
