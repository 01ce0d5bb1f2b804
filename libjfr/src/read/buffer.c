/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "memory_impl.h"
#include "read/input_impl.h"

bool jfr__is_gzip(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    return len >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

int jfr__buffer_reserve(jfr__buffer *buffer, size_t more, jfr_error *err)
{
    void *data = buffer->data;
    if (more > SIZE_MAX - buffer->len ||
        jfr__grow(buffer->alloc, &data, &buffer->cap, buffer->len + more, 1) < 0)
        return jfr__fail_nomem(err);
    buffer->data = data;
    return 0;
}

void jfr__buffer_free(jfr__buffer *buffer)
{
    if (buffer->data != NULL)
        buffer->alloc->free(buffer->alloc->ctx, buffer->data);
    buffer->data = NULL;
    buffer->len = 0;
    buffer->cap = 0;
}
