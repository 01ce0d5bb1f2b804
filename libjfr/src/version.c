/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/jfr.h>

const char *jfr_version(void)
{
    return JFR_VERSION;
}
