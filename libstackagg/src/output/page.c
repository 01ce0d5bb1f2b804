/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a page: a template with a document in place of its marker. */
#include <string.h>

#include "fail_impl.h"
#include "output/document_impl.h"
#include "output/meta_impl.h"

static const char element[] =
    "<script type=\"application/json\" id=\"hotstack-data\">" SAGG_HTML_MARKER "</script>";

/* Returns where `what` first occurs in `text` from `from` on, or text.size. */
static size_t find(sagg_str text, size_t from, const char *what)
{
    size_t size = strlen(what);
    for (size_t at = from; size <= text.size && at <= text.size - size; at++)
        if (text.data[at] == what[0] && memcmp(text.data + at, what, size) == 0)
            return at;
    return text.size;
}

/* Finds the marker that the data replaces. */
static int find_marker(sagg_str text, size_t *marker, sagg_error *err)
{
    *marker = find(text, 0, SAGG_HTML_MARKER);
    if (*marker == text.size)
        return sagg__fail(err, SAGG_ERR_FORMAT, 0,
                          "The HTML template has no %s: build it from ui/flamegraph.",
                          SAGG_HTML_MARKER);
    size_t second = find(text, *marker + 1, SAGG_HTML_MARKER);
    if (second != text.size)
        return sagg__fail(err, SAGG_ERR_FORMAT, second,
                          "The HTML template has %s twice, again at byte %zu: it must stand once.",
                          SAGG_HTML_MARKER, second);
    size_t before = strlen("<script type=\"application/json\" id=\"hotstack-data\">");
    if (*marker < before || find(text, *marker - before, element) != *marker - before)
        return sagg__fail(err, SAGG_ERR_FORMAT, *marker,
                          "The HTML template's %s at byte %zu does not fill a <script "
                          "type=\"application/json\" id=\"hotstack-data\"> element.",
                          SAGG_HTML_MARKER, *marker);
    return 0;
}

/* ---- compressed, as base64 ---- */

/* Bytes that are being encoded as base64: up to two wait for a third. */
typedef struct base64 {
    sagg__emit *to;
    uint8_t waiting[3];
    size_t count;
} base64;

static void write_group(base64 *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits =
        (uint32_t)b->waiting[0] << 16 | (uint32_t)b->waiting[1] << 8 | b->waiting[2];
    char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                    digits[bits & 63]};
    for (size_t i = b->count + 1; i < sizeof(text); i++)
        text[i] = '=';
    sagg__emit_bytes(b->to, text, sizeof(text));
    memset(b->waiting, 0, sizeof(b->waiting));
    b->count = 0;
}

/* sagg_sink.write */
static int take_compressed(void *ctx, const void *data, size_t bytes)
{
    base64 *b = ctx;
    const uint8_t *from = data;
    for (size_t i = 0; i < bytes; i++) {
        b->waiting[b->count++] = from[i];
        if (b->count == sizeof(b->waiting))
            write_group(b);
    }
    return b->to->rc != 0;
}

typedef struct compressing {
    const sagg_compress *with;
    sagg_sink out;
} compressing;

/* sagg_sink.write */
static int take_plain(void *ctx, const void *data, size_t bytes)
{
    const compressing *c = ctx;
    return c->with->write(c->with->ctx, data, bytes, false, &c->out);
}

/* Returns 0 or a code: SAGG_ERR_IO where the compressor or the sink refused. */
static int write_compressed(const sagg__document *document, const sagg_compress *compress,
                            sagg__emit *emit, sagg__mem *mem)
{
    base64 text = {.to = emit};
    compressing c = {.with = compress, .out = {take_compressed, &text}};
    const sagg_sink plain = {take_plain, &c};
    sagg__emit inner;
    sagg__emit_begin(&inner, &plain, mem);
    int rc = sagg__document_write(document, &inner, mem);
    int end = sagg__emit_end(&inner, mem);
    rc = rc != 0 ? rc : end;
    if (rc == 0 && compress->write(compress->ctx, NULL, 0, true, &c.out) != 0)
        rc = SAGG_ERR_IO;
    if (text.count > 0)
        write_group(&text);
    return rc;
}

int sagg__page_write(sagg_str html_template, const sagg__document *document,
                     const sagg_compress *compress, const sagg_sink *sink, sagg_error *err)
{
    sagg__mem mem;
    sagg__emit emit;
    size_t marker = 0;
    int rc = sagg__meta_check(document->meta, err);
    if (rc == 0)
        rc = find_marker(html_template, &marker, err);
    if (rc != 0)
        return rc;
    size_t behind = marker + strlen(SAGG_HTML_MARKER);
    sagg__mem_init(&mem, NULL, UINT64_MAX);
    sagg__emit_begin(&emit, sink, &mem);
    sagg__emit_bytes(&emit, html_template.data, marker);
    rc = compress != NULL ? write_compressed(document, compress, &emit, &mem)
                          : sagg__document_write(document, &emit, &mem);
    sagg__emit_bytes(&emit, html_template.data + behind, html_template.size - behind);
    int end = sagg__emit_end(&emit, &mem);
    rc = rc != 0 ? rc : end;
    if (rc == SAGG_ERR_IO)
        return sagg__refused(err);
    return rc != 0 ? sagg__no_memory(err) : 0;
}
