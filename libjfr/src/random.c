/* SPDX-License-Identifier: Apache-2.0 */
#include "random_impl.h"

#ifdef __linux__
#include <sys/random.h>
#endif

uint64_t jfr__random(void)
{
    uint64_t number = 0;
#ifdef __linux__
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
        return number;
#endif
    /* WebAssembly has no such source; there an address is enough, since the host isolates the
     * library. */
    return (uint64_t)(uintptr_t)&number * UINT64_C(0x9E3779B97F4A7C15);
}
