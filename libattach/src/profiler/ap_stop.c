/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_jfr_impl.h"
#include "profiler/ap_recording_impl.h"
#include "profiler/ap_session_impl.h"

static int rest_of_chunks(uint64_t *offset, attach__session *s, int fd, attach_piece_fn piece,
                          void *ctx, attach_error *err)
{
    uint64_t end = *offset;
    int rc = attach__recording_finished(&end, fd, *offset, err);
    if (rc == ATTACH_OK)
        rc = attach__recording_hand_over(fd, *offset, end, piece, ctx, s->deadline_ns, err);
    if (rc == ATTACH_OK)
        s->marker.handed = *offset = end;
    return rc;
}

/* Passes the remaining data of the stopped session. A recording that was removed has none. */
static int rest_of(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                   attach_error *err)
{
    if (attach__session_is_jfr(s) && faccessat(s->place.fd, ATTACH__FILE_RECORDING, F_OK, 0) != 0)
        (void)renameat(s->place.fd, ATTACH__FILE_EXPIRED, s->place.fd, ATTACH__FILE_RECORDING);
    int fd = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDWR, 0);
    if (fd < 0 || !s->has_marker || piece == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return ATTACH_OK;
    }
    uint64_t end = offset == UINT64_MAX ? s->marker.handed : offset;
    int rc = attach__session_is_jfr(s) ? attach__jfr_rest(s, offset, piece, ctx, err)
                                       : rest_of_chunks(&end, s, fd, piece, ctx, err);
    (void)close(fd);
    return rc;
}

/* Frees the space of bytes that no caller will request again, so that the last chunk fits. */
static void give_room(const attach__session *s, uint64_t offset)
{
    int fd = attach__open_regular(s->place.fd, ATTACH__FILE_RECORDING, O_RDWR, 0);
    if (fd < 0)
        return;
    attach__recording_punch(fd, offset == UINT64_MAX ? s->marker.handed : offset);
    (void)close(fd);
}

/*
 * Stops this installation's own session. It does not first ask whether the profiler runs, because
 * that answer could not be written on a full disk. The profiler refuses to stop only when it does
 * not run.
 */
static int stop_own(attach__session *s, uint64_t offset, attach_error *err)
{
    attach_error local = {0};
    if (attach__session_is_jfr(s)) {
        int rc = attach__session_ask(s, err);
        return rc == ATTACH_OK && s->running ? attach__jfr_stop(s, err) : rc;
    }
    if (s->library[0] == '\0')
        return ATTACH_OK;
    give_room(s, offset);
    int rc = attach__session_run(s, "stop", &local);
    if (rc == ATTACH_ERR_TARGET && local.reason == ATTACH_REASON_PROFILER_ERROR)
        return ATTACH_OK;
    if (rc != ATTACH_OK && err != NULL)
        *err = local;
    return rc;
}

static int stop(attach_ap_info *out, attach__session *s, uint64_t offset, attach_piece_fn piece,
                void *ctx, attach_error *err)
{
    int rc = attach__session_hold(s, err);
    bool own = s->has_marker && !attach__session_is_foreign(s);
    if (rc == ATTACH_OK)
        rc = own ? stop_own(s, offset, err) : attach__session_ask(s, err);
    if (rc != ATTACH_OK)
        return rc;
    if (attach__session_is_foreign(s) || (s->borrowed && !s->has_marker)) {
        attach__session_info(out, s, s->running ? ATTACH_AP_EXTERNAL : ATTACH_AP_NONE);
        return ATTACH_OK;
    }
    if (!own && s->running)
        rc = attach__session_run(s, "stop", err);
    if (rc != ATTACH_OK)
        return rc;
    s->running = false;
    if (own && !attach__session_is_jfr(s) && s->library[0] != '\0')
        attach__session_count_dropped(s);
    rc = rest_of(s, offset, piece, ctx, err);
    if (rc != ATTACH_OK)
        return rc;
    attach__session_info(out, s, ATTACH_AP_NONE);
    attach__session_remove(s);
    out->directory[0] = '\0';
    return ATTACH_OK;
}

int attach_ap_stop(attach_ap_info *out, attach_target *target, const attach_ap_options *options,
                   uint64_t offset, attach_piece_fn piece, void *ctx, uint64_t deadline_ns,
                   attach_error *err)
{
    attach__session s;
    memset(out, 0, sizeof(*out));
    int rc = attach__session_open(&s, target, options, deadline_ns, err);
    if (rc == ATTACH_OK && attach__session_is_known(&s))
        rc = stop(out, &s, offset, piece, ctx, err);
    if (rc == ATTACH_OK)
        attach__place_sweep(target, options, s.name[0] == '\0' ? NULL : s.name);
    attach__session_close(&s);
    return rc;
}

static attach_ap_state judge(const attach__session *s)
{
    bool left_alone = s->maps.external_kind != NULL && !s->maps.external_kind->shareable;
    if (!s->running)
        return left_alone ? ATTACH_AP_EXTERNAL : ATTACH_AP_NONE;
    if (attach__session_is_foreign(s) || (s->borrowed && !s->has_marker))
        return ATTACH_AP_EXTERNAL;
    return s->has_marker ? ATTACH_AP_OWNED : ATTACH_AP_UNKNOWN;
}

static int status(attach_ap_info *out, attach__session *s, attach_error *err)
{
    if (attach__session_is_known(s)) {
        int rc = attach__session_probe(s, err);
        if (rc != ATTACH_OK)
            return rc;
    }
    attach__session_info(out, s, judge(s));
    return ATTACH_OK;
}

int attach_ap_status(attach_ap_info *out, attach_target *target, const attach_ap_options *options,
                     uint64_t deadline_ns, attach_error *err)
{
    attach__session s;
    memset(out, 0, sizeof(*out));
    int rc = attach__session_open(&s, target, options, deadline_ns, err);
    if (rc == ATTACH_OK)
        rc = status(out, &s, err);
    attach__session_close(&s);
    return rc;
}
