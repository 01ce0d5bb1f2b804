/* SPDX-License-Identifier: Apache-2.0 */
#include <base/seeded_hash.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include <xxhash.h>

static uint64_t seed;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void make_seed(void)
{
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        abort();
}

uint64_t seeded_hash(const void *bytes, size_t length)
{
    pthread_once(&seed_once, make_seed);
    return XXH3_64bits_withSeed(bytes, length, seed);
}
