/* SPDX-License-Identifier: Apache-2.0 */
/* Finds mistyped environment variables, which would otherwise silently have no effect. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stddef.h>

/*
 * Reports each variable that begins with HOTSTACK_, is not read, and differs by one or two letters
 * from one that is: from one of `names`, or from one that names a file of the installation. Other
 * unknown variables are left alone: Kubernetes sets some for every service.
 */
void environment_find_typos(char *const *envp, const char *const *names, size_t count,
                            void (*report)(const char *typed, const char *meant));

#endif
