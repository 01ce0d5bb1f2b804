/* SPDX-License-Identifier: Apache-2.0 */
#include <jfr/jfr.h>

#include "version_impl.h"

const char *jfr_version(void)
{
    return JFR_VERSION;
}
