/* SPDX-License-Identifier: Apache-2.0 */
#include <base/utf8.h>

size_t utf8_sequence(const unsigned char *text, size_t length)
{
    if (length == 0 || text[0] == 0)
        return 0;
    if (text[0] < 0x80)
        return 1;
    size_t need = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4 || length < need)
        return 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (text[0] == 0xe0)
        low = 0xa0;
    else if (text[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (text[0] == 0xf0)
        low = 0x90;
    else if (text[0] == 0xf4)
        high = 0x8f;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return need;
}

bool utf8_is_text(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t at = 0; at < length;) {
        size_t size = utf8_sequence(bytes + at, length - at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}
