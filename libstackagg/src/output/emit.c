/* SPDX-License-Identifier: Apache-2.0 */
#include "output/emit_impl.h"

#include <stdio.h>
#include <string.h>

#include "frames/utf8_impl.h"

void sagg__emit_begin(sagg__emit *emit, const sagg_sink *sink, sagg__mem *mem)
{
    *emit = (sagg__emit){.sink = sink, .buffer = sagg__alloc(mem, SAGG__EMIT_BUFFER)};
    if (emit->buffer == NULL)
        emit->rc = SAGG_ERR_NOMEM;
}

static void flush(sagg__emit *emit)
{
    if (emit->rc == 0 && emit->size > 0 &&
        emit->sink->write(emit->sink->ctx, emit->buffer, emit->size) != 0)
        emit->rc = SAGG_ERR_IO;
    emit->size = 0;
}

int sagg__emit_end(sagg__emit *emit, sagg__mem *mem)
{
    flush(emit);
    sagg__release(mem, emit->buffer, SAGG__EMIT_BUFFER);
    return emit->rc;
}

void sagg__emit_bytes(sagg__emit *emit, const char *bytes, size_t size)
{
    while (size > 0 && emit->rc == 0) {
        size_t room = SAGG__EMIT_BUFFER - emit->size;
        size_t part = size < room ? size : room;
        memcpy(emit->buffer + emit->size, bytes, part);
        emit->size += part;
        bytes += part;
        size -= part;
        if (emit->size == SAGG__EMIT_BUFFER)
            flush(emit);
    }
}

void sagg__emit_text(sagg__emit *emit, const char *text)
{
    sagg__emit_bytes(emit, text, strlen(text));
}

/* Writes two digits at a time, which halves the number of divisions. */
size_t sagg__put_number(char *to, uint64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[SAGG__DIGITS];
    size_t at = sizeof(digits);
    for (; number >= 10; number /= 100) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * (number % 100), 2);
    }
    /* One digit may be left. */
    if (number > 0 || at == sizeof(digits))
        digits[--at] = (char)('0' + number);
    memcpy(to, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

void sagg__emit_number(sagg__emit *emit, uint64_t number)
{
    char digits[SAGG__DIGITS];
    sagg__emit_bytes(emit, digits, sagg__put_number(digits, number));
}

static void emit_escape(sagg__emit *emit, uint32_t code_point)
{
    char text[8];
    int size = snprintf(text, sizeof(text), "\\u%04x", (unsigned)code_point & 0xFFFFu);
    sagg__emit_bytes(emit, text, (size_t)size);
}

static bool needs_escape(uint32_t code_point, bool in_string)
{
    if (in_string && (code_point == '"' || code_point == '\\'))
        return true;
    return code_point == '<' || sagg__hostile(code_point);
}

/* Writes white space between tokens as a space, so that the JSON text stays on one line; escapes
 * other characters. */
static void emit_other(sagg__emit *emit, uint32_t code_point, bool in_string)
{
    if (!in_string && (code_point == '\n' || code_point == '\r' || code_point == '\t'))
        sagg__emit_text(emit, " ");
    else
        emit_escape(emit, code_point);
}

static void emit_escaped(sagg__emit *emit, sagg_str text, bool in_string)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    size_t plain = 0; /* start of the bytes that are written unchanged */
    for (size_t at = 0; at < text.size;) {
        uint32_t code_point = 0xFFFD;
        int step = sagg__utf8_step(bytes + at, text.size - at, &code_point);
        size_t size = (size_t)(step > 0 ? step : -step);
        if (step > 0 && !needs_escape(code_point, in_string)) {
            at += size;
            continue;
        }
        sagg__emit_bytes(emit, text.data + plain, at - plain);
        emit_other(emit, code_point, in_string);
        at += size;
        plain = at;
    }
    sagg__emit_bytes(emit, text.data + plain, text.size - plain);
}

void sagg__emit_string(sagg__emit *emit, sagg_str text)
{
    sagg__emit_text(emit, "\"");
    emit_escaped(emit, text, true);
    sagg__emit_text(emit, "\"");
}

void sagg__emit_inside(sagg__emit *emit, sagg_str text)
{
    emit_escaped(emit, text, true);
}

void sagg__emit_json(sagg__emit *emit, sagg_str json)
{
    emit_escaped(emit, json, false);
}
