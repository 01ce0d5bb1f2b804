/* SPDX-License-Identifier: Apache-2.0 */
#include "first_seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "hotstack-first-seen 1\n";

typedef struct sight {
    char uid[40];
    char value[32];
    uint64_t at_ms;
} sight;

struct first_seen {
    sight *sights; /* FIRST_SEEN_MAX */
    size_t count;
    bool has_news;
};

first_seen *first_seen_new(void)
{
    first_seen *memory = calloc(1, sizeof(*memory));
    if (memory != NULL)
        memory->sights = calloc(FIRST_SEEN_MAX, sizeof(*memory->sights));
    if (memory != NULL && memory->sights == NULL) {
        free(memory);
        return NULL;
    }
    return memory;
}

void first_seen_free(first_seen *memory)
{
    if (memory == NULL)
        return;
    free(memory->sights);
    free(memory);
}

static int read_line(first_seen *memory, const char *line, size_t length)
{
    char text[128];
    sight one = {0};
    int used = 0;
    if (length >= sizeof(text) || memory->count >= FIRST_SEEN_MAX)
        return -1;
    memcpy(text, line, length);
    text[length] = '\0';
    if (sscanf(text, "%39s %31s %" SCNu64 "%n", one.uid, one.value, &one.at_ms, &used) != 3 ||
        (size_t)used != length)
        return -1;
    memory->sights[memory->count++] = one;
    return 0;
}

int first_seen_read(first_seen *memory, const char *text, size_t length, char *message, size_t size)
{
    size_t at = sizeof(header) - 1;
    if (length < at || memcmp(text, header, at) != 0) {
        (void)snprintf(message, size, "it does not begin with \"%.*s\"", (int)at - 1, header);
        return -1;
    }
    for (unsigned number = 2; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        if (end == NULL || read_line(memory, text + at, (size_t)(end - text) - at) != 0) {
            (void)snprintf(message, size, "line %u is not \"UID VALUE MILLISECONDS\"", number);
            return -1;
        }
        at = (size_t)(end - text) + 1;
    }
    return 0;
}

int first_seen_write(first_seen *memory, char **out, size_t *length)
{
    FILE *to = open_memstream(out, length);
    if (to == NULL)
        return -1;
    bool good = fputs(header, to) >= 0;
    for (size_t i = 0; good && i < memory->count; i++) {
        const sight *one = &memory->sights[i];
        good = fprintf(to, "%s %s %" PRIu64 "\n", one->uid, one->value, one->at_ms) > 0;
    }
    if (fclose(to) != 0 || !good) {
        free(*out);
        return -1;
    }
    memory->has_news = false;
    return 0;
}

bool first_seen_has_news(const first_seen *memory)
{
    return memory->has_news;
}

uint64_t first_seen_of(first_seen *memory, const char *uid, const char *value, uint64_t now_ms,
                       bool is_old)
{
    for (size_t i = 0; i < memory->count; i++) {
        sight *one = &memory->sights[i];
        if (strcmp(one->uid, uid) == 0 && strcmp(one->value, value) == 0)
            return one->at_ms < now_ms ? one->at_ms : now_ms; /* the clock may have been set back */
    }
    if (memory->count >= FIRST_SEEN_MAX || strlen(uid) >= sizeof(memory->sights->uid) ||
        strlen(value) >= sizeof(memory->sights->value))
        return 0;
    sight *one = &memory->sights[memory->count++];
    (void)snprintf(one->uid, sizeof(one->uid), "%s", uid);
    (void)snprintf(one->value, sizeof(one->value), "%s", value);
    one->at_ms = is_old ? 0 : now_ms;
    memory->has_news = true;
    return one->at_ms;
}

void first_seen_prune(first_seen *memory, bool (*is_there)(const void *context, const char *uid),
                      const void *context)
{
    for (size_t i = memory->count; i > 0; i--) {
        if (is_there(context, memory->sights[i - 1].uid))
            continue;
        memory->sights[i - 1] = memory->sights[--memory->count];
        memory->has_news = true;
    }
}
