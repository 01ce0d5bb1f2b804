/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/text.h>

#include <string.h>

text text_of(const char *string)
{
    return (text){string, strlen(string)};
}

bool text_equal(text a, text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}
