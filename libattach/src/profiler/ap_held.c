/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_impl.h"
#include "profiler/ap_place_impl.h"
#include "profiler/ap_recording_impl.h"

struct attach_ap_held {
    attach_target *target;
    attach__place place;
    int fd; /* the recording; another process may remove its name after the JVM's end */
};

int attach_ap_hold(attach_ap_held **out, attach_target *target, const char *directory,
                   attach_error *err)
{
    *out = NULL;
    attach_ap_held *held = calloc(1, sizeof(*held));
    if (held == NULL)
        return attach__fail(err, ATTACH_ERR_NOMEM, "no memory to hold a recording");
    held->target = target;
    held->fd = -1;
    int rc = attach__place_open(&held->place, target, directory);
    if (rc == 0) {
        held->fd = attach__open_regular(held->place.fd, ATTACH__FILE_RECORDING, O_RDONLY, 0);
        rc = held->fd < 0 ? held->fd : 0;
    }
    if (rc != 0) {
        attach_ap_held_close(held);
        return attach__fail(err, ATTACH_ERR_IO, "cannot hold the recording in %.200s: %s",
                            directory, strerror(-rc));
    }
    *out = held;
    return ATTACH_OK;
}

int attach_ap_held_take(attach_ap_held *held, uint64_t offset, attach_piece_fn piece, void *ctx,
                        uint64_t deadline_ns, attach_error *err)
{
    uint64_t end = offset;
    int rc = attach__recording_finished(&end, held->fd, offset, err);
    if (rc == ATTACH_OK)
        rc = attach__recording_hand_over(held->fd, offset, end, piece, ctx, deadline_ns, err);
    if (rc == ATTACH_OK)
        attach__place_remove(&held->place, held->target, false);
    return rc;
}

void attach_ap_held_close(attach_ap_held *held)
{
    if (held == NULL)
        return;
    attach__place_close(&held->place);
    if (held->fd >= 0)
        (void)close(held->fd);
    free(held);
}
