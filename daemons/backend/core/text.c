#include "text.h"

#include <string.h>

text text_of(const char *string)
{
    return (text){string, strlen(string)};
}

bool text_equal(text a, text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* The length of the UTF-8 sequence at p, 0 when there is none within left bytes. */
static size_t sequence(const unsigned char *p, size_t left)
{
    unsigned char c = p[0];
    size_t need = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    if (c < 0xc2 || c > 0xf4 || need > left)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    bool low = (c == 0xe0 && p[1] < 0xa0) || (c == 0xf0 && p[1] < 0x90);
    bool high = (c == 0xed && p[1] > 0x9f) || (c == 0xf4 && p[1] > 0x8f);
    return low || high ? 0 : need;
}

bool text_is_utf8(text value)
{
    const unsigned char *p = (const unsigned char *)value.data;

    for (size_t i = 0; i < value.length;) {
        size_t step = p[i] < 0x80 ? (p[i] != 0 ? 1 : 0) : sequence(p + i, value.length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}
