/* SPDX-License-Identifier: Apache-2.0 */
#include <base/near_miss.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns the edit distance (insert, delete, replace) to a name shorter than NEAR_MISS_LENGTH. */
static unsigned distance(const char *a, const char *b, size_t b_length)
{
    unsigned row[NEAR_MISS_LENGTH];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = diagonal + !is_same(a[i - 1], b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

void near_miss_begin(near_miss *near, const char *typed, size_t length)
{
    *near = (near_miss){.distance = (unsigned)(length / 3) + 1};
    if (length < NEAR_MISS_LENGTH)
        memcpy(near->typed, typed, length);
}

void near_miss_try(near_miss *near, const char *name, size_t length)
{
    if (near->typed[0] == '\0' || length == 0 || length >= NEAR_MISS_LENGTH)
        return;
    unsigned far = distance(near->typed, name, length);
    bool is_nearer = near->name[0] == '\0' ? far <= near->distance : far < near->distance;
    if (!is_nearer || far >= length) /* no letter in common */
        return;
    memcpy(near->name, name, length);
    near->name[length] = '\0';
    near->distance = far;
}

const char *near_miss_hint(const near_miss *near, char out[NEAR_MISS_LENGTH + 32])
{
    out[0] = '\0';
    if (near->name[0] != '\0')
        (void)snprintf(out, NEAR_MISS_LENGTH + 32, "; did you mean '%s'?", near->name);
    return out;
}
