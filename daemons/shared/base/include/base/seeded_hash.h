/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes for tables whose keys come from outside: names of a JVM's classes and threads, rows of an
 * upload. The random seed prevents chosen collisions.
 */
#ifndef BASE_SEEDED_HASH_H
#define BASE_SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the XXH3-64 of `length` bytes with a random seed that each process chooses, so that it
 * must not be stored or sent. Ends the process where the kernel has no random numbers. Any thread
 * may call it.
 */
uint64_t seeded_hash(const void *bytes, size_t length);

#endif
