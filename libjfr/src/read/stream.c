/* SPDX-License-Identifier: Apache-2.0 */
#include "error_impl.h"
#include "read/input_impl.h"
#include "read/reader_impl.h"

#include <inttypes.h>
#include <string.h>

enum { NO_FD = -1, GO_ON = 2, SEARCH_BYTES = 64 * 1024 };

/* What lies at `at`. */
typedef enum jfr__place {
    PLACE_START,  /* the first chunk's header: anything else is no recording */
    PLACE_CHUNK,  /* a chunk's header */
    PLACE_SKIP,   /* the rest of a chunk that was given up, and that ends where it says */
    PLACE_SEARCH, /* no header: the next one is searched */
    PLACE_REST    /* after the end: all that was left, which `file` reads by itself */
} jfr__place;

struct jfr_stream {
    jfr_file *file; /* sees the bytes of one chunk at a time */
    int fd;         /* NO_FD: bytes are fed */
    bool ended;
    bool sniffed; /* it is known whether the bytes are gzip */
    jfr__inflater *inflater;
    jfr__place place;
    uint64_t at;     /* offset in the recording of the first byte not yet delivered or given up */
    jfr__buffer in;  /* fed bytes; of a file: those read last */
    size_t head;     /* where `at` lies in the buffer */
    uint64_t wanted; /* fed bytes from `at` without which a look at the chunk there is in vain */
    uint64_t skip;   /* bytes that PLACE_SKIP still has to pass over */
    uint64_t lost_from;
    jfr_loss_reason lost_reason;
};

static int new_stream(jfr_stream **out, int fd, uint64_t offset, const jfr_options *opts,
                      jfr_error *err)
{
    jfr_file *file;
    int rc = jfr__file_new(&file, opts, err);
    if (rc < 0)
        return rc;
    jfr_stream *s = file->allocator.alloc(file->allocator.ctx, sizeof(*s));
    if (s == NULL) {
        jfr_close(file);
        return jfr__fail_nomem(err);
    }
    *s = (jfr_stream){.file = file, .fd = fd, .at = offset, .in = {.alloc = &file->allocator}};
    *out = s;
    return 0;
}

int jfr_stream_new(jfr_stream **out, uint64_t offset, const jfr_options *opts, jfr_error *err)
{
    return new_stream(out, NO_FD, offset, opts, err);
}

int jfr_stream_follow(jfr_stream **out, int fd, uint64_t offset, const jfr_options *opts,
                      jfr_error *err)
{
    uint64_t size;
    int rc = jfr__fd_size(fd, &size, "The recording", err);
    return rc < 0 ? rc : new_stream(out, fd, offset, opts, err);
}

void jfr_stream_free(jfr_stream *s)
{
    if (s == NULL)
        return;
    jfr_file *file = s->file;
    jfr__inflater_free(s->inflater);
    jfr__buffer_free(&s->in);
    file->allocator.free(file->allocator.ctx, s);
    jfr_close(file);
}

/* ---- Bytes ---- */

static void advance(jfr_stream *s, uint64_t bytes)
{
    s->at += bytes;
    s->head += s->fd == NO_FD ? (size_t)bytes : 0;
    s->wanted = 0;
}

/* How many bytes there are from `at`. */
static int available(const jfr_stream *s, uint64_t *bytes, jfr_error *err)
{
    uint64_t size;
    *bytes = s->in.len - s->head;
    if (s->fd == NO_FD)
        return 0;
    int rc = jfr__fd_size(s->fd, &size, "The recording", err);
    if (rc < 0)
        return rc;
    if (size < s->at)
        return jfr__fail(err, JFR_ERR_IO, size,
                         "The recording has %" PRIu64 " bytes and was read up to %" PRIu64
                         ": it was cut, or begun anew.",
                         size, s->at);
    *bytes = size - s->at;
    return 0;
}

/* Brings `bytes` from `at` into the buffer. Returns 1, 0 while they are not there, or a code. */
static int need(jfr_stream *s, uint64_t bytes, jfr_error *err)
{
    uint64_t there;
    int rc = available(s, &there, err);
    if (rc < 0 || there < bytes)
        return rc;
    if (s->fd == NO_FD)
        return 1;
    s->in.len = 0;
    s->head = 0;
    if (bytes > SIZE_MAX)
        return jfr__fail_nomem(err);
    rc = jfr__buffer_reserve(&s->in, (size_t)bytes, err);
    if (rc == 0)
        rc = jfr__fd_read(s->fd, s->at, s->in.data, (size_t)bytes, &s->in.len, err);
    return rc < 0 ? rc : s->in.len == bytes; /* less: the file was cut meanwhile */
}

/* Finds out from the first two bytes whether the recording is gzip. */
static int sniff(jfr_stream *s, const uint8_t *data, size_t len, jfr_error *err)
{
    size_t held = s->in.len; /* 0 or 1 */
    if (held + len < 2)
        return 0;
    const uint8_t magic[2] = {held > 0 ? s->in.data[0] : data[0], data[1 - held]};
    s->sniffed = true;
    if (!jfr__is_gzip(magic, 2))
        return 0;
    s->in.len = 0;
    int rc = jfr__inflater_new(&s->inflater, &s->file->allocator,
                               s->file->options.max_unpacked_bytes, err);
    return rc < 0 || held == 0 ? rc : jfr__inflater_feed(s->inflater, magic, 1, &s->in, err);
}

/* Drops what was delivered from the front of the buffer. */
static void compact(jfr_stream *s)
{
    if (s->head == 0)
        return;
    s->in.len -= s->head;
    memmove(s->in.data, s->in.data + s->head, s->in.len);
    s->head = 0;
}

int jfr_stream_feed(jfr_stream *s, const void *data, size_t len, jfr_error *err)
{
    if (s->fd != NO_FD || s->ended)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "This stream takes no bytes: it follows a file, or was ended.");
    jfr__file_leave(s->file);
    compact(s);
    if (s->in.len > s->file->options.max_stream_bytes)
        return jfr__fail(err, JFR_ERR_LIMIT, s->at,
                         "The stream holds more than max_stream_bytes (%" PRIu64
                         "): call jfr_stream_next until it returns 0, then feed again.",
                         s->file->options.max_stream_bytes);
    if (len == 0)
        return 0;
    int rc = s->sniffed ? 0 : sniff(s, data, len, err);
    if (rc < 0)
        return rc;
    if (s->inflater != NULL)
        return jfr__inflater_feed(s->inflater, data, len, &s->in, err);
    rc = jfr__buffer_reserve(&s->in, len, err);
    if (rc < 0)
        return rc;
    memcpy(s->in.data + s->in.len, data, len);
    s->in.len += len;
    return 0;
}

int jfr_stream_amend(jfr_stream *s, uint64_t offset, const void *data, size_t len, jfr_error *err)
{
    uint64_t held = s->in.len - s->head;
    if (s->fd != NO_FD || s->inflater != NULL || offset < s->at || offset - s->at > held ||
        len > held - (offset - s->at))
        return jfr__fail(err, JFR_ERR_USAGE, offset,
                         "The stream does not hold %zu bytes at this offset: they were delivered, "
                         "or not fed yet.",
                         len);
    if (len > 0)
        memcpy(s->in.data + s->head + (offset - s->at), data, len);
    s->wanted = 0;
    return 0;
}

/* ---- Chunks ---- */

/* Begins a stretch that will be reported when its end is known. */
static void give_up(jfr_stream *s, jfr_loss_reason reason, jfr__place place)
{
    s->lost_from = s->at;
    s->lost_reason = reason;
    s->place = place;
}

static void report(jfr_stream *s)
{
    jfr_file *file = s->file;
    file->origin = s->lost_from;
    jfr__loss_add(file, s->lost_reason, 0, s->at - s->lost_from, 0);
    file->loss.chunks_lost++;
    s->place = PLACE_CHUNK;
}

static int pass_over(jfr_stream *s, jfr_error *err)
{
    uint64_t there;
    int rc = available(s, &there, err);
    if (rc < 0)
        return rc;
    uint64_t step = there < s->skip ? there : s->skip;
    advance(s, step);
    s->skip -= step;
    if (s->skip > 0)
        return 0;
    report(s);
    return GO_ON;
}

static int search(jfr_stream *s, jfr_error *err)
{
    uint64_t there;
    int rc = available(s, &there, err);
    if (rc < 0 || there < JFR__HEADER_SIZE)
        return rc;
    if (s->fd != NO_FD && there > SEARCH_BYTES)
        there = SEARCH_BYTES;
    rc = need(s, there, err);
    if (rc <= 0)
        return rc;
    uint64_t found = jfr__header_find(s->in.data, s->in.len, s->head);
    if (found == s->in.len) {
        advance(s, there - (JFR__HEADER_SIZE - 1)); /* the rest may begin a header */
        return GO_ON;
    }
    advance(s, found - s->head);
    report(s);
    return GO_ON;
}

/* Whether another chunk, or the end, is where a chunk of this size ends. Of fed bytes nobody knows:
 * they are not all there. */
static bool ends_well(jfr_stream *s, uint64_t size)
{
    uint8_t head[JFR__HEADER_SIZE];
    jfr__header next;
    uint64_t there;
    size_t got = 0;
    if (s->fd == NO_FD || available(s, &there, NULL) < 0 || there < size)
        return false;
    return there == size ||
           (jfr__fd_read(s->fd, s->at + size, head, sizeof(head), &got, NULL) == 0 &&
            jfr__header_read(&next, head, got, 0, NULL) == 0);
}

/* Gives up the chunk, which says to be of `size` (0 = it says nothing). That can be as wrong as any
 * number: unless the size is borne out, the next header ends the chunk. */
static int too_large(jfr_stream *s, uint64_t size, jfr_error *err)
{
    uint64_t at = s->at;
    uint64_t skip = ends_well(s, size) ? size : 0;
    s->skip = skip;
    give_up(s, JFR_LOSS_LIMIT, skip > 0 ? PLACE_SKIP : PLACE_SEARCH);
    if (skip == 0)
        advance(s, 1); /* past the header that is there */
    return jfr__fail(err, JFR_ERR_LIMIT, at,
                     "The chunk at this offset is larger than max_stream_bytes (%" PRIu64 ").",
                     s->file->options.max_stream_bytes);
}

/* The file's own errors count from the bytes it was given. */
static int rebased(const jfr_stream *s, int rc, jfr_error *err)
{
    if (err != NULL && rc < 0 && rc != JFR_ERR_NOMEM)
        err->offset += s->file->origin;
    return rc;
}

static void show(jfr_stream *s, uint64_t bytes)
{
    jfr__metadata_forget(&s->file->chunk.meta);
    s->file->data = bytes > 0 ? s->in.data + s->head : NULL;
    s->file->len = (size_t)bytes;
    s->file->next = 0;
    s->file->origin = s->at;
}

static int deliver(jfr_stream *s, uint64_t size, jfr_chunk **chunk, jfr_error *err)
{
    show(s, size);
    advance(s, size);
    int rc = jfr_next_chunk(s->file, chunk, err);
    return rc == 0 ? GO_ON : rebased(s, rc, err);
}

/*
 * Whether the writer has finished the chunk. JDKs before 14 patch one header field after the other,
 * the clock's start last: in a file that is read meanwhile it must be there too.
 */
static bool is_finished(const jfr_stream *s, const jfr__header *h)
{
    bool patched = s->fd == NO_FD || (h->start_ns != 0 && h->start_ticks != 0);
    return patched && jfr__header_is_finished(h);
}

/* Until `bytes` are there: however small the pieces, the header is read once. */
static int wait_for(jfr_stream *s, uint64_t bytes)
{
    if (s->fd == NO_FD)
        s->wanted = bytes;
    return 0;
}

static int try_chunk(jfr_stream *s, jfr_chunk **chunk, jfr_error *err)
{
    jfr__header h;
    uint8_t head[JFR__HEADER_SIZE];
    if (s->in.len - s->head < s->wanted)
        return 0;
    int rc = need(s, sizeof(head), err);
    if (rc <= 0)
        return rc;
    memcpy(head, s->in.data + s->head, sizeof(head));
    rc = jfr__header_read(&h, head, sizeof(head), 0, err);
    if (rc < 0 && s->place == PLACE_START) {
        s->file->origin = s->at;
        return rebased(s, rc, err);
    }
    if (rc < 0) {
        give_up(s, JFR_LOSS_BAD_HEADER, PLACE_SEARCH);
        return GO_ON;
    }
    s->place = PLACE_CHUNK;
    uint64_t max = s->file->options.max_stream_bytes;
    if (!is_finished(s, &h)) {
        if (s->fd == NO_FD && s->in.len - s->head > max)
            return too_large(s, 0, err);
        return wait_for(s, max < UINT64_MAX ? max + 1 : max);
    }
    if (h.size > max)
        return too_large(s, h.size, err);
    rc = need(s, h.size, err);
    if (rc <= 0)
        return rc < 0 ? rc : wait_for(s, h.size);
    if (memcmp(head, s->in.data + s->head, sizeof(head)) != 0)
        return 0; /* its writer is at it */
    return deliver(s, h.size, chunk, err);
}

/* ---- The end ---- */

void jfr_stream_end(jfr_stream *stream)
{
    stream->ended = true;
}

/* Hands all that is left to the file, which knows what to do with what is unfinished or cut. */
static int begin_rest(jfr_stream *s, jfr_error *err)
{
    uint64_t there;
    int rc = available(s, &there, err);
    if (rc < 0)
        return rc;
    if (s->place == PLACE_SKIP || s->place == PLACE_SEARCH) {
        advance(s, there);
        report(s);
        there = 0;
    }
    uint64_t max = s->file->options.max_stream_bytes;
    uint64_t kept = s->fd == NO_FD || there < max ? there : max;
    rc = kept > 0 ? need(s, kept, err) : 1;
    if (rc <= 0)
        return rc;
    show(s, kept);
    if (there > kept)
        jfr__loss_add(s->file, JFR_LOSS_LIMIT, kept, there - kept, 0);
    if (s->inflater != NULL && jfr__inflater_is_cut(s->inflater))
        jfr__loss_add(s->file, JFR_LOSS_BAD_GZIP, there, 0, there);
    s->place = PLACE_REST;
    return GO_ON;
}

static int step(jfr_stream *s, jfr_chunk **chunk, jfr_error *err)
{
    switch (s->place) {
    case PLACE_SKIP:
        return pass_over(s, err);
    case PLACE_SEARCH:
        return search(s, err);
    case PLACE_REST:
        return rebased(s, jfr_next_chunk(s->file, chunk, err), err);
    default:
        return try_chunk(s, chunk, err);
    }
}

int jfr_stream_next(jfr_stream *s, jfr_chunk **chunk, jfr_error *err)
{
    jfr__file_leave(s->file);
    int rc = GO_ON;
    while (rc == GO_ON && !s->file->ended) {
        rc = step(s, chunk, err);
        if (rc == 0 && s->ended && s->place != PLACE_REST)
            rc = begin_rest(s, err);
    }
    return rc == GO_ON ? 0 : rc;
}

uint64_t jfr_stream_done(const jfr_stream *s)
{
    return s->place == PLACE_REST ? s->file->origin + s->file->next : s->at;
}

void jfr_stream_loss(const jfr_stream *s, jfr_loss *out)
{
    jfr_file_loss(s->file, out);
}
