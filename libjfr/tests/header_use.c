/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled as strict C11 and as C++: the public headers must compile alone in both. */
#include <jfr/jfr.h>

int jfr_header_use(void);

int jfr_header_use(void)
{
    jfr_file *file = 0;
    jfr_error err;
    return jfr_open_mem(&file, "", 0, 0, &err);
}
