/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "blocks/input_impl.h"

void chs__input_mark(const chs__input *input)
{
    if (input->err)
        input->err->offset = input->offset;
}

static int cut_short(chs__input *input)
{
    return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT,
                           "The answer ends at byte %" PRIu64 " in the middle of a block",
                           input->offset);
}

/* Reads more bytes after the unread ones, which it moves to the front. *more is false when the
 * source has ended. */
static int refill(chs__input *input, bool *more)
{
    size_t kept = chs__input_ready(input);
    uint64_t taken = input->offset + kept;
    size_t room = CHS__INPUT_WINDOW - kept, length = 0;
    int rc;

    *more = false;
    if (!input->read)
        return 0;
    memmove(input->window, input->at, kept);
    rc = input->read(input->context, input->window + kept, room, &length, input->err);
    input->at = input->window;
    input->end = input->window + kept + (rc ? 0 : length);
    if (rc)
        return rc;
    *more = length > 0;
    if (length > input->max_bytes - taken)
        return CHS__INPUT_FAIL(input, CHS_ERR_LIMIT,
                               "The answer passes the limit of %" PRIu64 " bytes",
                               input->max_bytes);
    return 0;
}

int chs__input_more(chs__input *input, bool *more)
{
    *more = true;
    return input->at < input->end ? 0 : refill(input, more);
}

int chs__input_items(chs__input *input, size_t width, uint64_t count, size_t *ready)
{
    while (chs__input_ready(input) < width) {
        bool more;
        int rc = refill(input, &more);

        if (rc)
            return rc;
        if (!more)
            return cut_short(input);
    }
    *ready = chs__input_ready(input) / width;
    if (*ready > count)
        *ready = (size_t)count;
    return 0;
}

int chs__input_varint(chs__input *input, uint64_t *value)
{
    unsigned shift;

    *value = 0;
    for (shift = 0; shift < 64; shift += 7) {
        size_t ready;
        int rc = chs__input_items(input, 1, 1, &ready);
        unsigned char byte;

        if (rc)
            return rc;
        byte = *input->at;
        if (shift == 63 && byte > 1)
            break;
        chs__input_skip(input, 1);
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 0;
    }
    return CHS__INPUT_FAIL(input, CHS_ERR_FORMAT, "A number at byte %" PRIu64 " is too long",
                           input->offset);
}

int chs__input_le64(chs__input *input, uint64_t *value)
{
    size_t ready, i;
    int rc = chs__input_items(input, 8, 1, &ready);

    if (rc)
        return rc;
    *value = 0;
    for (i = 0; i < 8; i++)
        *value |= (uint64_t)input->at[i] << (8 * i);
    chs__input_skip(input, 8);
    return 0;
}

int chs__input_bytes(chs__input *input, void *out, size_t length)
{
    unsigned char *to = out;

    while (length) {
        size_t ready;
        int rc = chs__input_items(input, 1, length, &ready);

        if (rc)
            return rc;
        memcpy(to, input->at, ready);
        chs__input_skip(input, ready);
        to += ready;
        length -= ready;
    }
    return 0;
}
