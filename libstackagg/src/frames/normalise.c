/* SPDX-License-Identifier: Apache-2.0 */
#include "frames/normalise_impl.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_cglib(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || c == '_';
}

static bool is_alphanumeric(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool starts_with(const char *text, size_t n, const char *prefix)
{
    size_t size = strlen(prefix);
    return n >= size && memcmp(text, prefix, size) == 0;
}

/* Returns how many of the last bytes satisfy `is`. */
static size_t run_at_end(const char *text, size_t n, bool (*is)(char))
{
    size_t run = 0;
    while (run < n && is(text[n - 1 - run]))
        run++;
    return run;
}

/* Returns how many of the first bytes satisfy `is`. */
static size_t run_at_start(const char *text, size_t n, bool (*is)(char))
{
    size_t run = 0;
    while (run < n && is(text[run]))
        run++;
    return run;
}

/* Returns the length without a trailing "0x" + hex, or `n` itself when there is none. */
static size_t without_address(const char *name, size_t n)
{
    size_t start = n - run_at_end(name, n, is_hex);
    if (start == n || start < 2 || name[start - 1] != 'x' || name[start - 2] != '0')
        return n;
    return start - 2;
}

static bool is_separator(char c)
{
    return c == '+' || c == '/' || c == '.';
}

/* Rule N1: "Foo$$Lambda$14/0x0000000800c03000", "Foo$$Lambda+0x00000008000c5a08/1760126453". */
static size_t cut_hidden_suffix(const char *name, size_t n)
{
    for (;;) {
        size_t end = without_address(name, n);
        if (end == n)
            end = n - run_at_end(name, n, is_digit);
        if (end == n || end < 2 || !is_separator(name[end - 1]))
            return n;
        n = end - 1;
    }
}

/* Rule N2. */
static void dot_separators(char *name, size_t n)
{
    for (char *at = name; (at = memchr(at, '/', n - (size_t)(at - name))) != NULL; at++)
        *at = '.';
}

typedef struct mark {
    const char *text;
    const char *separator;
    bool (*is_tail)(char);
    size_t tail_size; /* 0 = any number, in any number of groups */
} mark;

static const mark marks[] = {
    {"$$Lambda", "$", is_digit, 0},
    {"$$EnhancerBySpringCGLIB", "$$", is_cglib, 0},
    {"$$FastClassBySpringCGLIB", "$$", is_cglib, 0},
    {"$$SpringCGLIB", "$$", is_cglib, 0},
    {"$$EnhancerByCGLIB", "$$", is_cglib, 0},
    {"$$FastClassByCGLIB", "$$", is_cglib, 0},
    {"$$EnhancerByGuice", "$$", is_cglib, 0},
    {"$$FastClassByGuice", "$$", is_cglib, 0},
    {"$ByteBuddy", "$", is_alphanumeric, 8},
    {"$HibernateProxy", "$", is_alphanumeric, 8},
    {"$HibernateBasicProxy", "$", is_alphanumeric, 8},
    {"$HibernateInstantiator", "$", is_alphanumeric, 8},
    {"$HibernateAccessOptimizer", "$", is_alphanumeric, 8},
};

/* Returns the length of the group (separator and tail) at the start of `rest`, 0 when there is
 * none. */
static size_t group_size(const mark *m, const char *rest, size_t n)
{
    if (!starts_with(rest, n, m->separator))
        return 0;
    size_t separator = strlen(m->separator);
    size_t tail = m->tail_size;
    size_t run = run_at_start(rest + separator, n - separator, m->is_tail);
    if (tail == 0)
        tail = run;
    if (tail == 0 || run < tail)
        return 0;
    size_t size = separator + tail;
    const char *boundary = m->tail_size == 0 ? "$" : "$$";
    return size == n || starts_with(rest + size, n - size, boundary) ? size : 0;
}

static size_t groups_size(const mark *m, const char *rest, size_t n)
{
    size_t size = 0;
    for (size_t group = 1; group > 0; size += group) {
        group = group_size(m, rest + size, n - size);
        if (m->tail_size != 0)
            return group;
    }
    return size;
}

/* Returns the mark with groups at the start of `rest`, or NULL; `*skip` is the length of its
 * groups. */
static const mark *find_mark(const char *rest, size_t n, size_t *skip)
{
    if (rest[0] != '$')
        return NULL;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (!starts_with(rest, n, marks[i].text))
            continue;
        size_t size = strlen(marks[i].text);
        *skip = groups_size(&marks[i], rest + size, n - size);
        if (*skip > 0)
            return &marks[i];
    }
    return NULL;
}

/* Rule N3. */
static size_t fold_marks(char *name, size_t n)
{
    size_t out = 0;
    for (size_t at = 0; at < n;) {
        const char *next = memchr(name + at, '$', n - at);
        size_t before = next != NULL ? (size_t)(next - name) - at : n - at;
        size_t skip = 0;
        const mark *m = before == 0 ? find_mark(name + at, n - at, &skip) : NULL;
        size_t keep = m != NULL ? strlen(m->text) : before > 0 ? before : 1;
        memmove(name + out, name + at, keep);
        out += keep;
        at += keep + skip;
    }
    return out;
}

/* Returns the length without trailing digits, if `prefix` and those digits are the whole name. */
static size_t fold_numbered(const char *name, size_t n, const char *prefix)
{
    size_t digits = run_at_end(name, n, is_digit);
    bool whole = digits > 0 && n - digits == strlen(prefix) && starts_with(name, n, prefix);
    return whole ? n - digits : n;
}

/* Rule N4. */
static size_t fold_accessor(const char *name, size_t n)
{
    static const char *const accessors[] = {
        "jdk.internal.reflect.GeneratedMethodAccessor",
        "jdk.internal.reflect.GeneratedConstructorAccessor",
        "jdk.internal.reflect.GeneratedSerializationConstructorAccessor",
        "sun.reflect.GeneratedMethodAccessor",
        "sun.reflect.GeneratedConstructorAccessor",
        "sun.reflect.GeneratedSerializationConstructorAccessor",
    };
    if (n == 0 || !is_digit(name[n - 1]))
        return n;
    for (size_t i = 0; i < sizeof(accessors) / sizeof(accessors[0]); i++)
        n = fold_numbered(name, n, accessors[i]);
    return n;
}

/* Rule N5: "$Proxy12", "com.sun.proxy.$Proxy12", "jdk.proxy2.$Proxy12". */
static size_t fold_proxy(char *name, size_t n)
{
    size_t segment = n;
    if (n == 0 || !is_digit(name[n - 1]))
        return n;
    while (segment > 0 && name[segment - 1] != '.')
        segment--;
    size_t folded = segment + fold_numbered(name + segment, n - segment, "$Proxy");
    if (folded == n || !starts_with(name, folded, "jdk.proxy"))
        return folded;
    size_t prefix = strlen("jdk.proxy");
    size_t digits = run_at_start(name + prefix, folded - prefix, is_digit);
    if (digits == 0 || name[prefix + digits] != '.')
        return folded;
    memmove(name + prefix, name + prefix + digits, folded - prefix - digits);
    return folded - digits;
}

size_t sagg__normalise_class(char *name, size_t n)
{
    n = cut_hidden_suffix(name, n);
    dot_separators(name, n);
    n = fold_marks(name, n);
    n = fold_accessor(name, n);
    return fold_proxy(name, n);
}

size_t sagg__normalise_symbol(const char *name, size_t n)
{
    for (;;) {
        size_t end = without_address(name, n);
        if (end == n || end < 2 || name[end - 1] != '@')
            return n;
        n = end - 1;
    }
}
