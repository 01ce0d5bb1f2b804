/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers: options, errors, the kind of an input, and frames in one name. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

int import__fail(recording_error *err, int code, uint64_t offset, const char *format, ...)
{
    va_list args;
    if (err == NULL)
        return code;
    err->code = code;
    err->offset = offset;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    return code;
}

int import__options(import_options *out, const import_options *given, recording_error *err)
{
    *out = (import_options)IMPORT_OPTIONS_INIT;
    if (given != NULL && given->size != sizeof(*out))
        return import__fail(err, RECORDING_E_USAGE, 0,
                            "The options of an import have another size: start from "
                            "IMPORT_OPTIONS_INIT.");
    if (given != NULL)
        *out = *given;
    if (out->max_unpacked_bytes == 0)
        out->max_unpacked_bytes = UINT64_C(1) << 30;
    if (out->max_memory == 0)
        out->max_memory = UINT64_C(4) << 30;
    return 0;
}

/* ---- the kind of an input ---- */

static bool begins_as_jfr(const char *data, size_t size)
{
    static const char mark[] = {'F', 'L', 'R', '\0'};
    return size > 0 && memcmp(data, mark, size < sizeof(mark) ? size : sizeof(mark)) == 0;
}

static bool is_text(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)data[i] < ' ' && strchr("\t\r\n", data[i]) == NULL)
            return false;
    return true;
}

/* "{" begins speedscope's and other JSON. "<" alone can begin a frame such as "<init>". */
static bool begins_as_document(const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return at + 1 < size &&
           (data[at] == '{' || (data[at] == '<' && (data[at + 1] == '!' || data[at + 1] == '?')));
}

/* Returns whether the first non-empty line ends with a blank and a number, or is longer than the
 * bytes read. */
static bool begins_as_collapsed(const char *data, size_t size)
{
    size_t begin = 0;
    while (begin < size && (data[begin] == '\n' || data[begin] == '\r'))
        begin++;
    const char *newline = memchr(data + begin, '\n', size - begin);
    size_t end = newline != NULL ? (size_t)(newline - data) : size;
    if (newline == NULL && size == IMPORT_SNIFF)
        return true;
    if (end > begin && data[end - 1] == '\r')
        end--;
    size_t digits = end;
    while (digits > begin && data[digits - 1] >= '0' && data[digits - 1] <= '9')
        digits--;
    return begin == end || (digits < end && digits > begin && data[digits - 1] == ' ');
}

enum import_kind import_kind_of(const void *data, size_t size)
{
    char head[IMPORT_SNIFF];
    if (size == 0)
        return IMPORT_JFR;
    if (import__is_gzip(data, size)) {
        size = import__gunzip_head(head, sizeof(head), data, size);
        /* libjfr reports input that cannot be unpacked; packed text is not a known format. */
        return begins_as_jfr(head, size) ? IMPORT_JFR : IMPORT_PPROF;
    }
    if (begins_as_jfr(data, size))
        return IMPORT_JFR;
    size = size < IMPORT_SNIFF ? size : IMPORT_SNIFF;
    /* strchr finds '\0' as the end of its text, so that it is searched for first. */
    if (memchr(data, '\0', size) == NULL && is_text(data, size))
        return begins_as_document(data, size)    ? IMPORT_DOCUMENT
               : begins_as_collapsed(data, size) ? IMPORT_COLLAPSED
                                                 : IMPORT_TEXT;
    return IMPORT_PPROF;
}

/* ---- frames ---- */

static bool has(sagg_str text, const char *what)
{
    return memmem(text.data, text.size, what, strlen(what)) != NULL;
}

static bool ends_with(sagg_str text, const char *what)
{
    size_t size = strlen(what);
    return text.size >= size && memcmp(text.data + text.size - size, what, size) == 0;
}

/* Names in Java begin with a letter, '_', '$' or a non-ASCII character; constructors begin with
 * '<'. */
static bool begins_name(sagg_str text)
{
    unsigned char c = text.size > 0 ? (unsigned char)text.data[0] : ' ';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}

static const char *behind_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Splits "libc.so.6.memcpy". Returns whether the frame is of a library. */
static bool split_library(sagg_frame *out, sagg_str text)
{
    const char *end = text.data + text.size;
    const char *at = memmem(text.data, text.size, ".so.", strlen(".so."));
    if (at == NULL)
        return false;
    at += strlen(".so");
    /* Numbers followed by a point are the library's version. */
    for (const char *dot = behind_digits(at + 1, end); dot > at + 1 && dot < end && *dot == '.';
         dot = behind_digits(at + 1, end))
        at = dot;
    if (at + 1 >= end)
        return false;
    out->class_name = (sagg_str){text.data, (size_t)(at - text.data)};
    out->method = (sagg_str){at + 1, (size_t)(end - at) - 1};
    bool is_jvm = ends_with(out->class_name, "libjvm.so");
    out->kind = is_jvm ? SAGG_JVM : SAGG_NATIVE;
    return true;
}

/*
 * Returns whether this is a package path of another language, such as Go's "net/http" in
 * "net/http.HandlerFunc" or "github.com/x/y". In Java's form with slashes there is no point before
 * the class, and the class name has a capital letter; the slash of a hidden class is followed by a
 * number.
 */
static bool is_foreign_path(sagg_str class_name)
{
    const char *slash = memrchr(class_name.data, '/', class_name.size);
    if (slash == NULL || (slash[1] >= '0' && slash[1] <= '9'))
        return false;
    if (memchr(class_name.data, '.', class_name.size) != NULL)
        return true;
    for (const char *at = slash + 1; at < class_name.data + class_name.size; at++) {
        if (*at >= 'A' && *at <= 'Z')
            return false;
    }
    return true;
}

/* Splits "class.method". Returns whether the frame is Java's. */
static bool split_java(sagg_frame *out, sagg_str text)
{
    const char *dot = memrchr(text.data, '.', text.size);
    if (dot == NULL || has(text, "::") || has(text, "(") || ends_with(text, ".so"))
        return false;
    sagg_str class_name = {text.data, (size_t)(dot - text.data)};
    sagg_str method = {dot + 1, text.size - class_name.size - 1};
    if (is_foreign_path(class_name) || !begins_name(class_name) ||
        (!begins_name(method) && !ends_with(method, ">")))
        return false;
    out->class_name = class_name;
    out->method = method;
    out->kind = SAGG_JAVA;
    return true;
}

/* Removes ":123" from a Java frame and keeps it as the line. */
static void take_line(sagg_frame *frame)
{
    sagg_str *method = &frame->method;
    uint64_t line = 0;
    uint64_t unit = 1;
    size_t at = method->size;
    while (at > 0 && method->data[at - 1] >= '0' && method->data[at - 1] <= '9' &&
           unit < 10000000) {
        line += unit * (uint64_t)(method->data[at - 1] - '0');
        unit *= 10;
        at--;
    }
    if (at < 2 || at == method->size || method->data[at - 1] != ':')
        return;
    frame->line = (uint32_t)line;
    method->size = at - 1;
}

/* async-profiler's marks: interpreted, compiled, inlined, first tier; kernel. */
static char take_mark(sagg_str *text)
{
    static const char marks[] = "ij01k";
    if (text->size < 4 || !ends_with(*text, "]") || text->data[text->size - 4] != '_' ||
        text->data[text->size - 3] != '[')
        return '\0';
    char mark = text->data[text->size - 2];
    if (mark == '\0' || strchr(marks, mark) == NULL)
        return '\0';
    text->size -= 4;
    return mark;
}

void import_frame(sagg_frame *out, sagg_str text)
{
    *out = (sagg_frame){.kind = text.size > 0 ? SAGG_NATIVE : SAGG_UNKNOWN};
    if (text.size == 0)
        return;
    char mark = take_mark(&text);
    out->method = text;
    if (mark == 'k') {
        out->kind = SAGG_KERNEL;
        return;
    }
    if (split_library(out, text))
        return;
    if (split_java(out, text)) {
        take_line(out);
        return;
    }
    if (mark != '\0')
        out->kind = SAGG_JAVA;
    else if (text.data[0] == '[')
        out->kind = SAGG_UNKNOWN;
    else if (has(text, "::"))
        out->kind = SAGG_JVM;
}
