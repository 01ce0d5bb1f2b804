/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM TI agent that misbehaves as its options say, for tests: "exit" ends the JVM at once, "hang"
 * never returns from its attach thread. */
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int Agent_OnAttach(void *vm, char *options, void *reserved);

int Agent_OnAttach(void *vm, char *options, void *reserved)
{
    (void)vm;
    (void)reserved;
    if (options != NULL && strcmp(options, "exit") == 0)
        _exit(3);
    while (options != NULL && strcmp(options, "hang") == 0)
        (void)pause();
    return 0;
}
