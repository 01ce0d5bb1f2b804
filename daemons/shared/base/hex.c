/* SPDX-License-Identifier: Apache-2.0 */
#include <base/hex.h>

size_t hex_write(char *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
    return 2 * count;
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return -1;
}

bool hex_read_number(uint64_t *out, const char *digits)
{
    *out = 0;
    for (size_t i = 0; i < 16; i++) {
        int value = digit_value(digits[i]); /* a NUL is not a digit */
        if (value < 0)
            return false;
        *out = *out << 4 | (unsigned)value;
    }
    return true;
}
