/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_jfr_impl.h"
#include "profiler/ap_recording_impl.h"
#include "profiler/ap_session_impl.h"

static int no_session(const attach__session *s, attach_error *err)
{
    return attach__refuse(err, ATTACH_REASON_PROFILER_ERROR,
                          "no profiling session of this installation runs in process %d: start one",
                          s->target->identity.pid);
}

static int open_recording(int *out, const attach__session *s, attach_error *err)
{
    *out = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDWR, 0);
    if (*out < 0)
        return attach__refuse(
            err, ATTACH_REASON_PROFILER_ERROR,
            "the recording of process %d is gone from %s (%s): start a new session",
            s->target->identity.pid, s->place.path, strerror(-*out));
    return ATTACH_OK;
}

/* Passes the finished chunks from *offset on to `piece` and moves *offset to their end. */
static int hand_over(uint64_t *offset, const attach__session *s, int fd, attach_piece_fn piece,
                     void *ctx, attach_error *err)
{
    uint64_t end = *offset;
    int rc = attach__recording_finished(&end, fd, *offset, err);
    if (rc == ATTACH_OK)
        rc = attach__recording_hand_over(fd, *offset, end, piece, ctx, s->deadline_ns, err);
    if (rc == ATTACH_OK)
        *offset = end;
    return rc;
}

/* Finishes the current chunk. A dump that adds no chunk may mean that the profiler has stopped.
 * Only then is the profiler asked, because every command leaves some bytes in the JVM. */
static int finish_chunk(attach__session *s, int fd, uint64_t offset, attach_error *err)
{
    uint64_t before = 0, after = 0, settled = s->options->settled;
    int rc = attach__recording_finished(&before, fd, offset, err);
    if (rc != ATTACH_OK)
        return rc;
    attach__recording_punch(fd, settled < offset ? settled : offset);
    rc = attach__session_run(s, "dump,jfr", err);
    if (rc == ATTACH_OK)
        rc = attach__recording_finished(&after, fd, before, err);
    s->running = after > before;
    if (rc == ATTACH_OK && !s->running)
        rc = attach__session_ask(s, err);
    if (rc != ATTACH_OK)
        return rc;
    /* the remaining data of a session that ended by itself is a window too */
    return s->running || after > offset ? ATTACH_OK : no_session(s, err);
}

/* A window without a chunk is an error. The profiler writes to another file than the recording that
 * is read, because the JVM has replaced or cut the recording, and all further windows would be
 * empty. */
static int ap_window(attach__session *s, int fd, uint64_t offset, attach_piece_fn piece, void *ctx,
                     attach_error *err)
{
    uint64_t from = offset;
    int rc = finish_chunk(s, fd, offset, err);
    if (rc == ATTACH_OK)
        rc = hand_over(&offset, s, fd, piece, ctx, err);
    if (rc != ATTACH_OK)
        return rc;
    s->marker.handed = offset;
    attach__session_count_dropped(s);
    rc = attach__session_save(s, err);
    if (rc == ATTACH_OK && offset == from)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, from,
                               "the recording lacks the chunk at byte %" PRIu64
                               ", which the profiler has finished",
                               from);
    return rc;
}

static int window_of(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                     attach_error *err)
{
    int fd = -1;
    if (attach__session_is_jfr(s))
        return attach__jfr_window(s, offset, piece, ctx, err);
    if (s->library[0] == '\0')
        return no_session(s, err);
    int rc = open_recording(&fd, s, err);
    if (rc != ATTACH_OK)
        return rc;
    rc = ap_window(s, fd, offset == UINT64_MAX ? s->marker.handed : offset, piece, ctx, err);
    (void)close(fd);
    return rc;
}

static int window(attach_ap_info *out, attach__session *s, uint64_t offset, attach_piece_fn piece,
                  void *ctx, attach_error *err)
{
    if (s->place.fd < 0)
        return no_session(s, err);
    int rc = attach__session_hold(s, err);
    if (rc != ATTACH_OK)
        return rc;
    if (!s->has_marker || attach__session_is_foreign(s))
        return no_session(s, err);
    rc = window_of(s, offset, piece, ctx, err);
    if (rc == ATTACH_OK)
        attach__session_info(out, s, s->running ? ATTACH_AP_OWNED : ATTACH_AP_NONE);
    return rc;
}

int attach_ap_window(attach_ap_info *out, attach_target *target, const attach_ap_options *options,
                     uint64_t offset, attach_piece_fn piece, void *ctx, uint64_t deadline_ns,
                     attach_error *err)
{
    attach__session s;
    memset(out, 0, sizeof(*out));
    if (piece == NULL)
        return attach__fail(err, ATTACH_ERR_USAGE,
                            "no receiver was given for the recording's bytes");
    int rc = attach__session_open(&s, target, options, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = window(out, &s, offset, piece, ctx, err);
    attach__session_close(&s);
    return rc;
}
