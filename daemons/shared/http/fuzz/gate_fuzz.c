/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes any bytes to the gate. A head in one piece must get the same verdict as byte by byte, and
 * an accepted head must not have a form that another reader could understand differently.
 */
#include <stdlib.h>
#include <string.h>

#include <http/gate.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_head(const char *bytes, size_t length)
{
    http_gate_head head, slow_head;
    http_refusal why, slow_why;
    int slow = HTTP_GATE_MORE;

    int rc = http_gate_read_head(&head, bytes, length, 0, NULL, &why);
    for (size_t i = 1; i <= length && slow == HTTP_GATE_MORE; i++)
        slow = http_gate_read_head(&slow_head, bytes, i, i - 1, NULL, &slow_why);
    if (rc != slow || (rc == HTTP_GATE_REFUSED && why.offset > length))
        abort();
    if (rc <= 0)
        return;
    if (memchr(bytes, 0, (size_t)rc) != NULL || memcmp(bytes + rc - 4, "\r\n\r\n", 4) != 0 ||
        memmem(bytes, (size_t)rc, "\r\n ", 3) != NULL ||
        memmem(bytes, (size_t)rc, " :", 2) == bytes)
        abort();
}

static void check_chunked(const char *bytes, size_t length)
{
    http_chunked whole = HTTP_CHUNKED_INIT, slow = HTTP_CHUNKED_INIT;
    http_refusal why;
    bool done = false, slow_done = false;
    int taken = http_chunked_feed(&whole, bytes, length, 1u << 20, &done, &why);
    int total = 0;

    for (size_t i = 0; i < length && !slow_done && total >= 0; i++) {
        int one = http_chunked_feed(&slow, bytes + i, 1, 1u << 20, &slow_done, &why);
        total = one < 0 ? one : total + one;
    }
    if (taken != total || done != slow_done || whole.payload > 1u << 20)
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *bytes = malloc(size > 0 ? size : 1);

    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    check_head(bytes, size);
    check_chunked(bytes, size);
    free(bytes);
    return 0;
}
