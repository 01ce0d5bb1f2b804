/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/near_miss.h>
#include <catalogue/profile_type.h>
#include <recording/recording.h>

#include "cli/command.h"

int option_choice(size_t *index, const char *what, const char *text, const char *const *names,
                  size_t count)
{
    near_miss near;
    char hint[NEAR_MISS_LENGTH + 32];
    char list[256] = "";
    near_miss_begin(&near, text, strlen(text));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return -1;
        }
        near_miss_try(&near, names[i], strlen(names[i]));
        size_t size = strlen(list);
        (void)snprintf(list + size, sizeof(list) - size, "%s%s",
                       i == 0          ? ""
                       : i + 1 < count ? ", "
                                       : " or ",
                       names[i]);
    }
    if (*near_miss_hint(&near, hint) != '\0')
        complain("there is no %s '%s'%s", what, text, hint);
    else
        complain("there is no %s '%s'; use %s", what, text, list);
    return EXIT_USAGE;
}

int option_types(uint32_t *types, char *list)
{
    const char *names[PROFILE_TYPE_END - 1];
    char *rest;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++)
        names[type - 1] = profile_type_get(type)->name;
    if (list[strspn(list, ",")] == '\0') {
        complain("--type takes one profile type or more, as in cpu,alloc_bytes");
        return EXIT_USAGE;
    }
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        size_t index;
        int rc = option_choice(&index, "profile type", name, names, PROFILE_TYPE_END - 1);
        if (rc >= 0)
            return rc;
        *types |= UINT32_C(2) << index;
    }
    return -1;
}

int option_number(uint32_t *number, const char *option, const char *text, uint32_t least)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && text[0] != '-' && value >= least &&
        value <= UINT32_MAX) {
        *number = (uint32_t)value;
        return -1;
    }
    complain("%s takes a whole number from %u on, not '%s'", option, least, text);
    return EXIT_USAGE;
}

int option_jobs(uint32_t *jobs, const char *option, const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end != text && *end == '\0' && number >= 1 && number <= RECORDING_MAX_THREADS) {
        *jobs = (uint32_t)number;
        return -1;
    }
    complain("%s takes a number from 1 to %d, not '%s'", option, RECORDING_MAX_THREADS, text);
    return EXIT_USAGE;
}

int option_min_width(uint32_t *width, const char *text)
{
    char *end;
    double percent = strtod(text, &end);
    if (end != text && *end == '\0' && percent >= 0 && percent <= 100) {
        *width = (uint32_t)(percent * 1e7 + 0.5);
        return -1;
    }
    complain("--min-width takes a percentage from 0 to 100, not '%s'", text);
    return EXIT_USAGE;
}
