/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <catalogue/profile_type.h>
#include <recording/recording.h>

#include "cli/command.h"

/* What it lists, in the catalogue's order. */
static int no_type(const char *what)
{
    char names[256] = "";
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        size_t size = strlen(names);
        (void)snprintf(names + size, sizeof(names) - size, "%s%s", type > 1 ? ", " : "",
                       profile_type_get(type)->name);
    }
    complain("%s: use %s", what, names);
    return EXIT_USAGE;
}

int option_types(uint32_t *types, char *list)
{
    char *rest;
    if (list[strspn(list, ",")] == '\0')
        return no_type("--type takes one profile type or more");
    for (char *name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        const profile_type_info *info = profile_type_find(name);
        if (info == NULL) {
            char what[128];
            (void)snprintf(what, sizeof(what), "there is no profile type '%s'", name);
            return no_type(what);
        }
        *types |= UINT32_C(1) << info->type;
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
