/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/template.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#define TEMPLATE_LIMIT (16u << 20)

/* Finds "PREFIX/share/hotstack" from PREFIX/bin/hotstack, so that an installation can be moved. */
static bool datadir_beside_program(char *dir, size_t room)
{
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (size <= 0)
        return false;
    program[size] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    return snprintf(dir, room, "%s/share/hotstack", program) < (int)room;
}

static bool try_dir(bytes *out, const char *dir, const char *name, int *error)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
        *error = ENAMETOOLONG;
        return false;
    }
    *error = read_all(out, path, TEMPLATE_LIMIT);
    return *error == 0;
}

bool template_read(bytes *out, const char *name)
{
    char beside[PATH_MAX];
    int error;
    const char *chosen = getenv("HOTSTACK_DATADIR");
    if (chosen != NULL && chosen[0] != '\0') {
        if (try_dir(out, chosen, name, &error))
            return true;
        complain("cannot read %s/%s (HOTSTACK_DATADIR): %s", chosen, name, strerror(error));
        return false;
    }
    if (datadir_beside_program(beside, sizeof(beside)) && try_dir(out, beside, name, &error))
        return true;
    if (try_dir(out, HOTSTACK_INSTALLED_DATADIR, name, &error) ||
        try_dir(out, HOTSTACK_BUILD_DATADIR, name, &error))
        return true;
    complain("the page's template %s is not installed in %s: a build without Node has none. Set "
             "HOTSTACK_DATADIR to a folder that has it, or write --format collapsed or json",
             name, HOTSTACK_INSTALLED_DATADIR);
    return false;
}
