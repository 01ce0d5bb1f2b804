/* SPDX-License-Identifier: Apache-2.0 */
#include <base/environment.h>

#include <stdbool.h>
#include <string.h>

#include <base/near_miss.h>

/* How many letters a mistyped name may have wrong. */
enum { TYPO = 2 };

/* The variables that all programs read, besides their settings. */
static const char *const common[] = {
    "HOTSTACK_ASYNC_PROFILER", "HOTSTACK_ATTACH_WORKER", "HOTSTACK_CONFIG",
    "HOTSTACK_DATADIR",        "HOTSTACK_LIBCHDB",       "HOTSTACK_THREAD_AGENT",
};

/* Offers all names; returns true if one of them is the variable's. */
static bool offer(near_miss *near, const char *const *names, size_t count)
{
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        near_miss_try(near, names[i], strlen(names[i]));
        is_known = is_known || strcmp(names[i], near->typed) == 0;
    }
    return is_known;
}

void environment_find_typos(char *const *envp, const char *const *names, size_t count,
                            void (*report)(const char *typed, const char *meant))
{
    for (; envp != NULL && *envp != NULL; envp++) {
        near_miss near;
        if (strncmp(*envp, "HOTSTACK_", strlen("HOTSTACK_")) != 0)
            continue;
        near_miss_begin(&near, *envp, strcspn(*envp, "="));
        bool is_known = offer(&near, names, count);
        is_known = offer(&near, common, sizeof(common) / sizeof(common[0])) || is_known;
        if (!is_known && near.name[0] != '\0' && near.distance <= TYPO)
            report(near.typed, near.name);
    }
}
