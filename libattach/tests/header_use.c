/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled as strict C11 and as C++: the public headers must compile alone in both. */
#include <attach/attach.h>

int attach_header_use(void);

int attach_header_use(void)
{
    attach_jvm_list *list = 0;
    attach_error err;
    attach_options options = ATTACH_OPTIONS_INIT;
    attach_ap_options session = ATTACH_AP_OPTIONS_INIT;
    if (session.size != sizeof(session))
        return ATTACH_ERR_USAGE;
    return attach_jvm_list_read(&list, &options, &err);
}
