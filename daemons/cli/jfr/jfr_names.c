/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jfr/jfr_names.h"

#include <string.h>

#include "cli/output/json_text.h"

void names_text_bare(text *out, jfr_str s)
{
    for (size_t at = 0; at < s.len;) {
        bool harmless;
        size_t size = plain_step(s.data + at, s.len - at, &harmless);
        text_bytes(out, harmless ? s.data + at : "?", harmless ? size : 1);
        at += size;
    }
}

void names_text(text *out, jfr_str s)
{
    text_char(out, '"');
    names_text_bare(out, s);
    text_char(out, '"');
}

/* Gets a member of a struct; null when the type does not have it. */
static int get(jfr_chunk *chunk, const jfr_variant *from, const char *path, jfr_variant *out,
               jfr_error *err)
{
    int rc = jfr_variant_path(chunk, from, path, out, err);
    if (rc == 0)
        *out = (jfr_variant){.kind = JFR_VARIANT_NULL, .constant = JFR_NONE};
    return rc < 0 ? rc : 0;
}

static int get_text(jfr_chunk *chunk, const jfr_variant *from, const char *path, jfr_str *out,
                    jfr_error *err)
{
    jfr_variant v;
    int rc = get(chunk, from, path, &v, err);
    *out = rc == 0 && v.kind == JFR_VARIANT_STRING ? v.text : (jfr_str){NULL, 0};
    return rc;
}

static int get_number(jfr_chunk *chunk, const jfr_variant *from, const char *path, int64_t *out,
                      jfr_error *err)
{
    jfr_variant v;
    int rc = get(chunk, from, path, &v, err);
    bool is_number = v.kind == JFR_VARIANT_INTEGER || v.kind == JFR_VARIANT_BOOLEAN;
    *out = rc == 0 && is_number ? v.integer : 0;
    return rc;
}

static void put_or_null(text *out, jfr_str s)
{
    if (s.data == NULL)
        text_string(out, "null");
    else
        names_text_bare(out, s);
}

/* Writes a class name, in which recordings have slashes, with dots. */
static void put_dotted(text *out, jfr_str s)
{
    size_t start = out->len;
    put_or_null(out, s);
    for (size_t i = start; i < out->len; i++) {
        if (out->data[i] == '/')
            out->data[i] = '.';
    }
}

static int put_thread(text *out, jfr_chunk *chunk, const jfr_variant *value, jfr_error *err)
{
    int64_t id = 0;
    int64_t is_virtual = 0;
    jfr_str name = {NULL, 0};
    int rc = get_number(chunk, value, "javaThreadId", &id, err);
    bool java = id > 0;
    if (rc == 0 && !java)
        rc = get_number(chunk, value, "osThreadId", &id, err);
    if (rc == 0)
        rc = get_number(chunk, value, "virtual", &is_virtual, err);
    if (rc == 0)
        rc = get_text(chunk, value, java ? "javaName" : "osName", &name, err);
    text_char(out, '"');
    put_or_null(out, name);
    text_printf(out, "\" (%s = %lld%s)", java ? "javaThreadId" : "osThreadId", (long long)id,
                java && is_virtual ? ", virtual" : "");
    return rc < 0 ? rc : 1;
}

/* Writes one type of a descriptor: "I", "[Ljava/lang/String;". Returns its length, 0 when it is not
 * a type. */
static size_t put_described(text *out, const char *s, size_t len, bool simple)
{
    static const char letters[] = "ZBCSIJFDV";
    static const char *const names[] = {"boolean", "byte",  "char",   "short", "int",
                                        "long",    "float", "double", "void"};
    size_t dimensions = 0;
    while (dimensions < len && s[dimensions] == '[')
        dimensions++;
    const char *p = s + dimensions;
    const char *end = p;
    if (dimensions == len)
        return 0;
    const char *letter = strchr(letters, *p);
    if (*p == 'L') {
        end = memchr(p, ';', len - dimensions);
        if (end == NULL)
            return 0;
        const char *name = p + 1;
        for (const char *c = name; simple && c < end; c++) {
            if (*c == '/')
                name = c + 1;
        }
        put_dotted(out, (jfr_str){name, (size_t)(end - name)});
    } else if (letter != NULL && *letter != '\0') {
        text_string(out, names[letter - letters]);
    } else {
        return 0;
    }
    for (size_t i = 0; i < dimensions; i++)
        text_string(out, "[]");
    return (size_t)(end - s) + 1;
}

/* Writes a class name; "[I" becomes "int[]". */
static void put_class_name(text *out, jfr_str name)
{
    if (name.len == 0 || name.data[0] != '[' || put_described(out, name.data, name.len, false) == 0)
        put_dotted(out, name);
}

static int put_class(text *out, jfr_chunk *chunk, const jfr_variant *value, jfr_error *err)
{
    jfr_str name = {NULL, 0};
    jfr_str loader = {NULL, 0};
    int rc = get_text(chunk, value, "name", &name, err);
    put_class_name(out, name);
    if (rc == 0)
        rc = get_text(chunk, value, "classLoader.name", &loader, err);
    if (rc == 0 && loader.data == NULL)
        rc = get_text(chunk, value, "classLoader.type.name", &loader, err);
    text_string(out, " (classLoader = ");
    put_dotted(out, loader);
    text_char(out, ')');
    return rc < 0 ? rc : 1;
}

static int put_loader(text *out, jfr_chunk *chunk, const jfr_variant *value, jfr_error *err)
{
    jfr_str name = {NULL, 0};
    uint64_t id = 0;
    int rc = get_text(chunk, value, "type.name", &name, err);
    put_dotted(out, name);
    if (rc == 0 && name.data != NULL && value->constant != JFR_NONE) {
        rc = jfr_chunk_constant_id(chunk, value->type, value->constant, &id, err);
        text_printf(out, " (id = %llu)", (unsigned long long)id);
    }
    return rc < 0 ? rc : 1;
}

static void put_parameters(text *out, jfr_str descriptor)
{
    const char *p = descriptor.data;
    const char *end = p == NULL ? NULL : memchr(p, ')', descriptor.len);
    text_char(out, '(');
    for (bool first = true; end != NULL && ++p < end; first = false) {
        if (!first)
            text_string(out, ", ");
        size_t len = put_described(out, p, (size_t)(end - p), true);
        if (len == 0)
            break;
        p += len - 1;
    }
    text_char(out, ')');
}

static int put_method(text *out, jfr_chunk *chunk, const jfr_variant *value, jfr_error *err)
{
    jfr_str class_name = {NULL, 0};
    jfr_str name = {NULL, 0};
    jfr_str descriptor = {NULL, 0};
    int rc = get_text(chunk, value, "type.name", &class_name, err);
    if (rc == 0)
        rc = get_text(chunk, value, "name", &name, err);
    if (rc == 0)
        rc = get_text(chunk, value, "descriptor", &descriptor, err);
    if (class_name.len > 0) { /* native functions have no class */
        put_dotted(out, class_name);
        text_char(out, '.');
    }
    put_or_null(out, name);
    put_parameters(out, descriptor);
    return rc < 0 ? rc : 1;
}

int names_put_frame(text *out, jfr_chunk *chunk, const jfr_variant *frame, jfr_error *err)
{
    jfr_variant method;
    int64_t hidden = 0;
    int64_t number = 0;
    jfr_variant java;
    int rc = get(chunk, frame, "javaFrame", &java, err);
    if (rc == 0)
        rc = get_number(chunk, frame, "method.hidden", &hidden, err);
    if (rc < 0 || hidden != 0 || (java.kind == JFR_VARIANT_BOOLEAN && java.integer == 0))
        return rc;
    rc = get(chunk, frame, "method", &method, err);
    if (rc == 0 && method.kind == JFR_VARIANT_STRUCT)
        rc = put_method(out, chunk, &method, err);
    else
        text_string(out, "null");
    if (rc >= 0)
        rc = get_number(chunk, frame, "lineNumber", &number, err);
    if (rc == 0 && number >= 0)
        text_printf(out, " line: %lld", (long long)number);
    return rc < 0 ? rc : 1;
}

int names_put(text *out, jfr_chunk *chunk, const jfr_type *type, const jfr_variant *value,
              jfr_error *err)
{
    static const struct {
        const char *type;
        int (*put)(text *out, jfr_chunk *chunk, const jfr_variant *value, jfr_error *err);
    } forms[] = {
        {"java.lang.Thread", put_thread},          {"java.lang.Class", put_class},
        {"jdk.types.ClassLoader", put_loader},     {"jdk.types.Method", put_method},
        {"jdk.types.StackFrame", names_put_frame},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (type->name.len == strlen(forms[i].type) &&
            memcmp(type->name.data, forms[i].type, type->name.len) == 0)
            return forms[i].put(out, chunk, value, err);
    }
    return 0;
}
