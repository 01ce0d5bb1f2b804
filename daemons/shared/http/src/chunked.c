/* SPDX-License-Identifier: Apache-2.0 */
#include <http/gate.h>

/* The position of the next byte in the body (RFC 9112, 7.1, without extensions and trailers). */
enum chunked_state {
    SIZE = 0,     /* in the hex digits of a size line */
    SIZE_LF,      /* after the CR of a size line */
    DATA,         /* in a chunk's payload */
    DATA_CR,      /* after a chunk's payload */
    DATA_LF,      /* after its CR */
    LAST_SIZE_LF, /* after the CR of the size line "0" */
    END_CR,       /* at the blank line that ends the body */
    END_LF,       /* after its CR */
    DONE          /* after the body */
};

static int refuse(http_refusal *why, int status, const char *code, const char *message,
                  size_t offset)
{
    *why = (http_refusal){status, code, message, offset};
    return HTTP_GATE_REFUSED;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Reads one byte of a size line. */
static int read_size(http_chunked *chunked, char c, size_t at, uint64_t max_payload,
                     http_refusal *why)
{
    int digit = hex_value(c);

    if (digit >= 0 && chunked->digits < 8) {
        chunked->left = chunked->left * 16 + (uint64_t)digit;
        chunked->digits++;
        return 0;
    }
    if (c != '\r' || chunked->digits == 0)
        return refuse(why, 400, "bad_chunk_size",
                      "A chunk's size is not 1 to 8 hex digits and a line end.", at);
    if (chunked->left > max_payload - chunked->payload)
        return refuse(why, 413, "payload_too_large", "The body is longer than allowed.", at);
    chunked->payload += chunked->left;
    chunked->state = chunked->left == 0 ? LAST_SIZE_LF : SIZE_LF;
    return 0;
}

/* Reads one byte that must be CR or LF. */
static int read_line_end(http_chunked *chunked, char c, size_t at, http_refusal *why)
{
    static const struct {
        char byte;
        uint8_t next;
    } expected[] = {
        [SIZE_LF] = {'\n', DATA},  [DATA_CR] = {'\r', DATA_LF},     [DATA_LF] = {'\n', SIZE},
        [END_CR] = {'\r', END_LF}, [LAST_SIZE_LF] = {'\n', END_CR}, [END_LF] = {'\n', DONE},
    };

    if (c != expected[chunked->state].byte)
        return refuse(why, 400, "bad_chunk",
                      "A chunk does not end where its size says, or the body has a trailer.", at);
    chunked->state = expected[chunked->state].next;
    if (chunked->state == SIZE) {
        chunked->digits = 0;
        chunked->left = 0;
    }
    return 0;
}

/* Skips payload; returns the bytes taken. */
static size_t read_data(http_chunked *chunked, size_t available)
{
    size_t taken = chunked->left < available ? (size_t)chunked->left : available;

    chunked->left -= taken;
    if (chunked->left == 0)
        chunked->state = DATA_CR;
    return taken;
}

int http_chunked_feed(http_chunked *chunked, const char *bytes, size_t length, uint64_t max_payload,
                      bool *done, http_refusal *why)
{
    size_t at = 0;
    int rc = 0;

    while (at < length && rc == 0 && chunked->state != DONE) {
        if (chunked->state == DATA) {
            at += read_data(chunked, length - at);
            continue;
        }
        rc = chunked->state == SIZE ? read_size(chunked, bytes[at], at, max_payload, why)
                                    : read_line_end(chunked, bytes[at], at, why);
        at++;
    }
    *done = chunked->state == DONE;
    return rc == 0 ? (int)at : rc;
}
