/* SPDX-License-Identifier: Apache-2.0 */
#include <stackagg/stackagg.h>

const char *sagg_version(void)
{
    return SAGG_VERSION;
}
