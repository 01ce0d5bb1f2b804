/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http/gate.h: checks the form of a request before any other code sees it.
 *
 * Pure functions over bytes, no I/O. The gate is stricter than RFC 9112 on purpose: it refuses
 * every request that two HTTP implementations could read differently, so that a proxy,
 * libmicrohttpd and our own routes agree where a request begins and ends and what it asks for.
 *
 * Thread rule: no state outside the arguments; any thread.
 */
#ifndef HTTP_GATE_H
#define HTTP_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_gate_limits {
    uint32_t head_bytes;   /* request line and header fields with the blank line */
    uint32_t target_bytes; /* path and query */
    uint32_t field_count;  /* header fields */
} http_gate_limits;

#define HTTP_GATE_LIMITS_INIT                                                                      \
    {                                                                                              \
        16384, 8192, 64                                                                            \
    }

typedef enum http_framing {
    HTTP_FRAMING_NONE,   /* no body */
    HTTP_FRAMING_LENGTH, /* content_length bytes, at least 1 */
    HTTP_FRAMING_CHUNKED /* see http_chunked_feed */
} http_framing;

/* The properties of an accepted request head. */
typedef struct http_gate_head {
    http_framing framing;
    uint64_t content_length; /* 0 unless framing is HTTP_FRAMING_LENGTH */
    bool close;              /* the client asked to close the connection after this request */
} http_gate_head;

/* Why a request was refused. code and message are static strings. */
typedef struct http_refusal {
    int status;          /* 400, 413, 414, 417, 431, 501, 505 */
    const char *code;    /* stable word, e.g. "two_content_lengths" */
    const char *message; /* one sentence for a person */
    size_t offset;       /* position in the given bytes */
} http_refusal;

enum {
    HTTP_GATE_MORE = 0,    /* no error so far; the head is not complete */
    HTTP_GATE_REFUSED = -1 /* *why is filled; the connection must end */
};

/*
 * Reads a request head: the request line, the header fields and the blank line.
 *
 * bytes, length: all bytes of this request so far, from its first; more may follow the head.
 * seen: how many of these bytes an earlier call has already examined (0 at first), so that a head
 * that arrives in many pieces is not read again and again.
 * limits: NULL for HTTP_GATE_LIMITS_INIT.
 *
 * Returns the head's length in bytes (> 0, *out is filled), HTTP_GATE_MORE, or HTTP_GATE_REFUSED
 * (*why is filled). It refuses:
 *   - any byte that a head may not hold: NUL and other controls, a LF without CR, a CR without LF;
 *   - a request line other than METHOD SP /path[?query] SP HTTP/1.1, a target that is absolute, "*"
 *     or has a fragment, a byte outside RFC 3986 or a broken or NUL percent escape;
 *   - a folded field, a field without a name, a space before a colon;
 *   - Host other than exactly once; Content-Length twice or not a plain number, or beside
 *     Transfer-Encoding; a Transfer-Encoding other than "chunked"; an Expect other than
 *     "100-continue"; any field that decides about meaning or identity given twice;
 *   - a body with a method that has none (all but POST, PUT, PATCH);
 *   - more than the limits.
 */
int http_gate_read_head(http_gate_head *out, const char *bytes, size_t length, size_t seen,
                        const http_gate_limits *limits, http_refusal *why);

/* The reader of a chunked body. Zero it (or use HTTP_CHUNKED_INIT) before a body's first byte. */
typedef struct http_chunked {
    uint8_t state;
    uint8_t digits;   /* of the current size line */
    uint64_t left;    /* of the current chunk */
    uint64_t payload; /* bytes of all chunks so far */
} http_chunked;

#define HTTP_CHUNKED_INIT                                                                          \
    {                                                                                              \
        0, 0, 0, 0                                                                                 \
    }

/*
 * Follows a chunked body through its framing and counts its payload.
 * bytes, length: the next bytes of the connection.
 * max_payload: the most that all chunks may hold together.
 * *done: set to true when the body's last byte is among those consumed.
 * Returns how many of the bytes belong to the body, all of them unless *done, or HTTP_GATE_REFUSED:
 * chunk extensions, trailers, a size of more than 8 hex digits, bare line ends, too much payload.
 */
int http_chunked_feed(http_chunked *chunked, const char *bytes, size_t length, uint64_t max_payload,
                      bool *done, http_refusal *why);

#endif
