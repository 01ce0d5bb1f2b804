/* SPDX-License-Identifier: Apache-2.0 */
#include <http/gate.h>

#include <string.h>
#include <strings.h>

/* A piece of the head. */
typedef struct span {
    const char *data;
    size_t length;
} span;

/* Fields that may occur at most once: they frame the body, name the server, or identify the client.
 */
enum single {
    SINGLE_HOST,
    SINGLE_CONTENT_LENGTH,
    SINGLE_TRANSFER_ENCODING,
    SINGLE_EXPECT,
    SINGLE_AUTHORIZATION,
    SINGLE_COOKIE,
    SINGLE_ORIGIN,
    SINGLE_CONTENT_TYPE,
    SINGLE_CONTENT_ENCODING,
    SINGLE_CONNECTION,
    SINGLE_COUNT
};

static const char *const single_names[SINGLE_COUNT] = {
    "host",   "content-length", "transfer-encoding", "expect",           "authorization",
    "cookie", "origin",         "content-type",      "content-encoding", "connection",
};

/* The head being read. */
typedef struct head_reader {
    const char *bytes;
    size_t length; /* of the head, blank line included */
    size_t at;
    const http_gate_limits *limits;
    http_refusal *why;
    bool seen[SINGLE_COUNT];
    span value[SINGLE_COUNT];
    bool has_body_method;
} head_reader;

static int refuse(http_refusal *why, int status, const char *code, const char *message,
                  size_t offset)
{
    *why = (http_refusal){status, code, message, offset};
    return HTTP_GATE_REFUSED;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_alnum(unsigned char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* RFC 9110, 5.6.2. */
static bool is_token(unsigned char c)
{
    return is_alnum(c) || (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* RFC 3986: unreserved, sub-delims and the other characters of a path or query. */
static bool is_target(unsigned char c)
{
    return is_alnum(c) || (c != 0 && strchr("-._~!$&'()*+,;=:@/?%", c) != NULL);
}

static bool span_is(span text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

/* Checks one byte and its neighbours. Returns 0 or HTTP_GATE_REFUSED. */
static int check_byte(const char *bytes, size_t length, size_t i, http_refusal *why)
{
    unsigned char c = (unsigned char)bytes[i];

    if (c == '\n' && (i == 0 || bytes[i - 1] != '\r'))
        return refuse(why, 400, "bare_lf", "A line ends in LF without CR.", i);
    if (c == '\r' && i + 1 < length && bytes[i + 1] != '\n')
        return refuse(why, 400, "bare_cr", "A CR is not followed by LF.", i);
    if (c == 0)
        return refuse(why, 400, "nul_byte", "The request head holds a NUL byte.", i);
    if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
        return refuse(why, 400, "control_byte", "The request head holds a control byte.", i);
    return 0;
}

/* Finds the end of the head. Returns its length, HTTP_GATE_MORE or HTTP_GATE_REFUSED. */
static int find_end(const char *bytes, size_t length, size_t seen, const http_gate_limits *limits,
                    http_refusal *why)
{
    /* The last byte of an earlier call may be a CR whose LF has just arrived. */
    for (size_t i = seen > 0 ? seen - 1 : 0; i < length; i++) {
        if (i >= limits->head_bytes)
            return refuse(why, 431, "head_too_large",
                          "The request line and header fields are longer than allowed.", i);
        if (check_byte(bytes, length, i, why) != 0)
            return HTTP_GATE_REFUSED;
        if (i >= 3 && memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0)
            return (int)i + 1;
    }
    return HTTP_GATE_MORE;
}

static int read_method(head_reader *r)
{
    size_t start = r->at;

    while (is_token((unsigned char)r->bytes[r->at]))
        r->at++;
    size_t length = r->at - start;
    if (length == 0 || length > 16 || r->bytes[r->at] != ' ')
        return refuse(r->why, 400, "bad_request_line",
                      "The request does not begin with a method and one space.", r->at);
    span method = {r->bytes + start, length};
    /* Methods are case-sensitive: "post" is another method, which no route has. */
    r->has_body_method = (length == 4 && memcmp(method.data, "POST", 4) == 0) ||
                         (length == 3 && memcmp(method.data, "PUT", 3) == 0) ||
                         (length == 5 && memcmp(method.data, "PATCH", 5) == 0);
    r->at++;
    return 0;
}

static int check_escape(const head_reader *r, size_t at)
{
    const char *p = r->bytes + at;

    /* The head ends in CRLFCRLF, so two bytes after any byte of the target are inside the head. */
    if (!is_hex((unsigned char)p[1]) || !is_hex((unsigned char)p[2]))
        return refuse(r->why, 400, "bad_escape",
                      "A % in the target is not followed by two hex digits.", at);
    if (p[1] == '0' && p[2] == '0')
        return refuse(r->why, 400, "bad_escape", "The target holds an escaped NUL.", at);
    return 0;
}

static int read_target(head_reader *r)
{
    size_t start = r->at;

    if (r->bytes[r->at] != '/')
        return refuse(r->why, 400, "bad_target",
                      "The target must be a path that begins with a slash, not an absolute URI.",
                      r->at);
    for (; is_target((unsigned char)r->bytes[r->at]); r->at++) {
        if (r->bytes[r->at] == '%' && check_escape(r, r->at) != 0)
            return HTTP_GATE_REFUSED;
        if (r->at - start >= r->limits->target_bytes)
            return refuse(r->why, 414, "target_too_long", "The target is longer than allowed.",
                          r->at);
    }
    if (r->bytes[r->at] != ' ')
        return refuse(r->why, 400, "bad_target", "The target holds a byte that no URI may hold.",
                      r->at);
    r->at++;
    return 0;
}

static int read_request_line(head_reader *r)
{
    if (read_method(r) != 0 || read_target(r) != 0)
        return HTTP_GATE_REFUSED;
    /* At least CRLFCRLF follows, so a shorter rest does not match either. */
    if (r->length - r->at < 10 || memcmp(r->bytes + r->at, "HTTP/", 5) != 0)
        return refuse(r->why, 400, "bad_request_line",
                      "The target is not followed by one space and HTTP/1.1.", r->at);
    if (memcmp(r->bytes + r->at, "HTTP/1.1\r\n", 10) != 0)
        return refuse(r->why, 505, "bad_version", "Only HTTP/1.1 is spoken here.", r->at);
    r->at += 10;
    return 0;
}

static int keep_single(head_reader *r, span name, span value, size_t offset)
{
    for (int i = 0; i < SINGLE_COUNT; i++) {
        if (!span_is(name, single_names[i]))
            continue;
        if (r->seen[i])
            return refuse(r->why, 400, "repeated_field",
                          "A header field that may occur once occurs twice.", offset);
        r->seen[i] = true;
        r->value[i] = value;
    }
    return 0;
}

static int read_field(head_reader *r)
{
    size_t start = r->at;

    if (r->bytes[r->at] == ' ' || r->bytes[r->at] == '\t')
        return refuse(r->why, 400, "folded_field", "A header field is folded over lines.", r->at);
    while (is_token((unsigned char)r->bytes[r->at]))
        r->at++;
    if (r->at == start || r->bytes[r->at] != ':')
        return refuse(r->why, 400, "bad_field_name",
                      "A header field has no name, or a byte between its name and the colon.",
                      r->at);
    span name = {r->bytes + start, r->at - start};
    const char *value = r->bytes + r->at + 1;
    const char *line_end = memchr(value, '\r', r->length - r->at - 1);
    const char *end = line_end;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    r->at = (size_t)(line_end - r->bytes) + 2;
    return keep_single(r, name, (span){value, (size_t)(end - value)}, start);
}

static int read_fields(head_reader *r)
{
    uint32_t count = 0;

    while (r->at + 2 < r->length) {
        if (++count > r->limits->field_count)
            return refuse(r->why, 431, "too_many_fields",
                          "The request has more header fields than allowed.", r->at);
        if (read_field(r) != 0)
            return HTTP_GATE_REFUSED;
    }
    return 0;
}

static int check_host(const head_reader *r)
{
    span host = r->value[SINGLE_HOST];

    if (!r->seen[SINGLE_HOST] || host.length == 0 || host.length > 255)
        return refuse(r->why, 400, "bad_host", "The request must name one Host.", 0);
    for (size_t i = 0; i < host.length; i++) {
        unsigned char c = (unsigned char)host.data[i];
        if (!is_alnum(c) && strchr("-._:[]", c) == NULL)
            return refuse(r->why, 400, "bad_host", "The Host holds a byte that no host name has.",
                          (size_t)(host.data - r->bytes) + i);
    }
    return 0;
}

static int read_content_length(const head_reader *r, uint64_t *out)
{
    span text = r->value[SINGLE_CONTENT_LENGTH];
    size_t offset = (size_t)(text.data - r->bytes);
    uint64_t value = 0;

    if (text.length == 0 || text.length > 18)
        return refuse(r->why, 400, "bad_content_length", "The Content-Length is not a number.",
                      offset);
    for (size_t i = 0; i < text.length; i++) {
        if (!is_digit((unsigned char)text.data[i]))
            return refuse(r->why, 400, "bad_content_length",
                          "The Content-Length is not a plain decimal number.", offset + i);
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = value;
    return 0;
}

static int read_framing(const head_reader *r, http_gate_head *out)
{
    bool coded = r->seen[SINGLE_TRANSFER_ENCODING];

    if (coded && r->seen[SINGLE_CONTENT_LENGTH])
        return refuse(r->why, 400, "two_framings",
                      "The request has both a Content-Length and a Transfer-Encoding.", 0);
    if (coded && !span_is(r->value[SINGLE_TRANSFER_ENCODING], "chunked"))
        return refuse(r->why, 501, "unknown_coding",
                      "The only Transfer-Encoding understood is chunked.",
                      (size_t)(r->value[SINGLE_TRANSFER_ENCODING].data - r->bytes));
    if (r->seen[SINGLE_CONTENT_LENGTH] && read_content_length(r, &out->content_length) != 0)
        return HTTP_GATE_REFUSED;
    if (coded)
        out->framing = HTTP_FRAMING_CHUNKED;
    else if (out->content_length > 0)
        out->framing = HTTP_FRAMING_LENGTH;
    if (out->framing != HTTP_FRAMING_NONE && !r->has_body_method)
        return refuse(r->why, 400, "body_not_allowed", "This method takes no body.", 0);
    return 0;
}

/* RFC 9110, 7.6.1: the field is a list of words. */
static bool asks_to_close(span list)
{
    const char *end = list.data + list.length;

    for (const char *p = list.data; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma != NULL ? comma : end;
        while (p < stop && (*p == ' ' || *p == '\t'))
            p++;
        const char *word_end = stop;
        while (word_end > p && (word_end[-1] == ' ' || word_end[-1] == '\t'))
            word_end--;
        if (span_is((span){p, (size_t)(word_end - p)}, "close"))
            return true;
        p = stop + 1;
    }
    return false;
}

static int read_head(head_reader *r, http_gate_head *out)
{
    if (read_request_line(r) != 0 || read_fields(r) != 0 || check_host(r) != 0)
        return HTTP_GATE_REFUSED;
    if (r->seen[SINGLE_EXPECT] && !span_is(r->value[SINGLE_EXPECT], "100-continue"))
        return refuse(r->why, 417, "bad_expect", "The only Expect understood is 100-continue.", 0);
    if (read_framing(r, out) != 0)
        return HTTP_GATE_REFUSED;
    out->close = r->seen[SINGLE_CONNECTION] && asks_to_close(r->value[SINGLE_CONNECTION]);
    return 0;
}

int http_gate_read_head(http_gate_head *out, const char *bytes, size_t length, size_t seen,
                        const http_gate_limits *limits, http_refusal *why)
{
    static const http_gate_limits defaults = HTTP_GATE_LIMITS_INIT;

    if (limits == NULL)
        limits = &defaults;
    int end = find_end(bytes, length, seen, limits, why);
    if (end <= 0)
        return end;
    head_reader reader = {.bytes = bytes, .length = (size_t)end, .limits = limits, .why = why};
    *out = (http_gate_head){HTTP_FRAMING_NONE, 0, false};
    return read_head(&reader, out) == 0 ? end : HTTP_GATE_REFUSED;
}
