/* SPDX-License-Identifier: Apache-2.0 */
#include "operation.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(attach_error *err, int code, attach_reason reason, const char *what, int error)
{
    *err = (attach_error){.code = code, .reason = reason};
    (void)snprintf(err->message, sizeof(err->message), "%s: %s", what, strerror(error));
    return code;
}

/* Drops all capabilities, which a change from one unprivileged user to another keeps; nothing below
 * needs them. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return (int)syscall(SYS_capset, &header, none);
}

static int change_user(const attach_ids *ids, attach_error *err)
{
    gid_t groups[ATTACH_GROUPS_MAX];
    char what[128];
    for (size_t i = 0; i < ids->n_groups; i++)
        groups[i] = ids->groups[i];
    if (setgroups(ids->n_groups, groups) == 0 && setresgid(ids->gid, ids->gid, ids->gid) == 0 &&
        setresuid(ids->uid, ids->uid, ids->uid) == 0)
        return ATTACH_OK;
    int error = errno;
    (void)snprintf(what, sizeof(what),
                   "cannot become the JVM's user (uid %u, gid %u): CAP_SETUID and CAP_SETGID are "
                   "needed",
                   ids->uid, ids->gid);
    return fail(err, ATTACH_ERR_TARGET, ATTACH_REASON_PERMISSION_DENIED, what, error);
}

/*
 * Becomes the target's user for good, without any capability. Root can do so, and so can another
 * user with CAP_SETUID and CAP_SETGID. HotSpot only answers its own uid with its own gid, so that
 * both must match. For a JVM of uid 0 the worker keeps the privileges that its caller gave it.
 */
static int become(const attach_ids *ids, attach_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail(err, ATTACH_ERR_IO, ATTACH_REASON_NONE, "cannot set no_new_privs", errno);
    if (geteuid() != ids->uid || getegid() != ids->gid) {
        int rc = change_user(ids, err);
        if (rc != ATTACH_OK)
            return rc;
    }
    if (ids->uid == 0)
        return ATTACH_OK;
    if (drop_capabilities() != 0)
        return fail(err, ATTACH_ERR_IO, ATTACH_REASON_NONE, "cannot drop capabilities", errno);
    if (setuid(0) == 0)
        return fail(err, ATTACH_ERR_IO, ATTACH_REASON_NONE, "can still become root", EPERM);
    return ATTACH_OK;
}

static void session_options(attach_ap_options *out, const char **dirs, const attach_request *r,
                            int library_fd)
{
    *out = (attach_ap_options)ATTACH_AP_OPTIONS_INIT;
    out->installation_id = r->installation_id;
    out->library_fd = library_fd;
    out->engine = r->engine;
    out->cpu_interval_ns = r->cpu_interval_ns;
    out->alloc_bytes = r->alloc_bytes;
    out->lock_ns = r->lock_ns;
    out->memlimit_bytes = r->memlimit_bytes;
    out->rate_limit = r->rate_limit;
    out->wall_ns = r->wall_ns;
    out->nativemem_bytes = r->nativemem_bytes;
    out->live = r->live;
    out->settled = r->settled;
    for (uint32_t i = 0; i < r->n_dirs; i++)
        dirs[i] = r->dirs[i];
    out->dirs = dirs;
    out->n_dirs = r->n_dirs;
    out->max_seconds = r->max_seconds;
    out->recorder = r->recorder;
    out->owner = r->owner;
}

static int send_text(frames_output *output, const char *text, size_t n)
{
    while (n > 0) {
        size_t piece = n < ATTACH_PIECE_MAX ? n : ATTACH_PIECE_MAX;
        if (frames_send_piece(output, (const uint8_t *)text, piece) != 0)
            return ATTACH_ERR_IO;
        text += piece;
        n -= piece;
    }
    return ATTACH_OK;
}

static int run_command(attach_result *result, attach_target *target, const attach_request *r,
                       frames_output *output, uint64_t deadline_ns, attach_error *err)
{
    attach_reply *reply = NULL;
    const char *args[ATTACH_COMMAND_ARGS];
    for (uint32_t i = 0; i < r->n_args; i++)
        args[i] = r->args[i];
    int rc = attach_command(&reply, target, r->command, args, r->n_args, deadline_ns, err);
    if (rc != ATTACH_OK)
        return rc;
    result->reply_code = attach_reply_code(reply);
    rc = send_text(output, attach_reply_text(reply), attach_reply_length(reply));
    attach_reply_free(reply);
    return rc;
}

static int run_examination(attach_target *target, const attach_ap_options *options,
                           frames_output *output, attach_error *err)
{
    char text[ATTACH_EXAMINE_TEXT_MAX];
    attach_examination found;
    int rc = attach_examine(&found, target, options, err);
    if (rc != ATTACH_OK)
        return rc;
    return send_text(output, text, attach_examination_format(text, &found));
}

static void snapshot_options(attach_threads_options *out, const char **dirs,
                             const attach_request *r, int library_fd)
{
    *out = (attach_threads_options)ATTACH_THREADS_OPTIONS_INIT;
    out->installation_id = r->installation_id;
    out->lease_id = r->lease_id[0] == '\0' ? NULL : r->lease_id;
    out->library_fd = library_fd;
    out->flags = r->threads_flags;
    out->max_threads = r->max_threads;
    out->max_stacks = r->max_stacks;
    out->max_depth = r->max_depth;
    out->max_bytes = r->max_bytes;
    out->lease_ms = r->lease_ms;
    out->pause_ms = r->pause_ms;
    for (uint32_t i = 0; i < r->n_dirs; i++)
        dirs[i] = r->dirs[i];
    out->dirs = dirs;
    out->n_dirs = r->n_dirs;
}

static int run_snapshot(attach_target *target, const attach_request *r, int library_fd,
                        frames_output *output, uint64_t deadline_ns, attach_error *err)
{
    const char *dirs[ATTACH_REQUEST_DIRS];
    attach_threads_options options;
    snapshot_options(&options, dirs, r, library_fd);
    return r->op == ATTACH_OP_THREADS
               ? attach_threads_take(target, &options, frames_send_piece, output, deadline_ns, err)
               : attach_threads_close(target, &options, deadline_ns, err);
}

static int run_on(attach_result *result, attach_target *target, const attach_request *r,
                  int library_fd, frames_output *output, uint64_t deadline_ns, attach_error *err)
{
    const char *dirs[ATTACH_REQUEST_DIRS];
    attach_ap_options options;
    int rc = become(attach_target_ids(target), err);
    if (rc != ATTACH_OK)
        return rc;
    session_options(&options, dirs, r, library_fd);
    switch (r->op) {
    case ATTACH_OP_START:
        return attach_ap_start(&result->info, target, &options, deadline_ns, err);
    case ATTACH_OP_WINDOW:
        return attach_ap_window(&result->info, target, &options, r->offset, frames_send_piece,
                                output, deadline_ns, err);
    case ATTACH_OP_STOP:
        return attach_ap_stop(&result->info, target, &options, r->offset, frames_send_piece, output,
                              deadline_ns, err);
    case ATTACH_OP_DISCARD:
        return attach_ap_stop(&result->info, target, &options, UINT64_MAX, NULL, NULL, deadline_ns,
                              err);
    case ATTACH_OP_STATUS:
        return attach_ap_status(&result->info, target, &options, deadline_ns, err);
    case ATTACH_OP_EXAMINE:
        return run_examination(target, &options, output, err);
    case ATTACH_OP_THREADS:
    case ATTACH_OP_THREADS_CLOSE:
        return run_snapshot(target, r, library_fd, output, deadline_ns, err);
    case ATTACH_OP_COMMAND:
        break;
    }
    return run_command(result, target, r, output, deadline_ns, err);
}

void operation_run(attach_result *result, const attach_request *request, frames_output *output)
{
    attach_options options = ATTACH_OPTIONS_INIT;
    attach_target *target = NULL;
    attach_error err = {0};
    uint64_t deadline_ns = attach_deadline_in(request->timeout_ms);
    memset(result, 0, sizeof(*result));
    if (request->proc_root[0] != '\0')
        options.proc_root = request->proc_root;
    /* opened before the change of user, as the target's user may not be able to read it */
    int library_fd =
        request->library[0] == '\0' ? -1 : open(request->library, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = attach_target_open(&target, &request->identity, &options, &err);
    if (rc == ATTACH_OK)
        rc = run_on(result, target, request, library_fd, output, deadline_ns, &err);
    attach_target_close(target);
    if (library_fd >= 0)
        (void)close(library_fd);
    result->code = rc;
    if (rc == ATTACH_OK)
        return;
    result->reason = err.reason;
    memcpy(result->message, err.message, sizeof(result->message));
}
