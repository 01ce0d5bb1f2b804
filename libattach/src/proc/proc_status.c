/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_status_impl.h"

#include <string.h>

#include "error_impl.h"

/* Reads the effective id of "Uid: real effective saved fs". */
static bool effective_id(attach__span value, uint32_t *out)
{
    attach__span real, effective;
    return attach__next_word(&value, &real) && attach__next_word(&value, &effective) &&
           attach__parse_u32(effective, out);
}

static bool last_pid(attach__span value, int32_t *out)
{
    attach__span word;
    uint32_t pid = 0;
    bool found = false;
    while (attach__next_word(&value, &word)) {
        if (!attach__parse_u32(word, &pid) || pid == 0 || pid > INT32_MAX)
            return false;
        found = true;
    }
    *out = (int32_t)pid;
    return found;
}

static bool group_list(attach__span value, attach_ids *ids)
{
    attach__span word;
    ids->n_groups = 0;
    while (ids->n_groups < ATTACH_GROUPS_MAX && attach__next_word(&value, &word))
        if (!attach__parse_u32(word, &ids->groups[ids->n_groups++]))
            return false;
    return true;
}

static bool hex_mask(attach__span value, uint64_t *out)
{
    attach__span word;
    return attach__next_word(&value, &word) && attach__parse_u64(word, 16, out);
}

enum { SEEN_UID = 1, SEEN_GID = 2, SEEN_PID = 4, SEEN_CAUGHT = 8, SEEN_ALL = 15 };

/* Reads one "Name:\tvalue" line into out; false when a line that matters is malformed. */
static bool take_line(attach__status *out, attach__span name, attach__span value, unsigned *seen)
{
    if (attach__span_is(name, "Uid")) {
        *seen |= SEEN_UID;
        return effective_id(value, &out->ids.uid);
    }
    if (attach__span_is(name, "Gid")) {
        *seen |= SEEN_GID;
        return effective_id(value, &out->ids.gid);
    }
    if (attach__span_is(name, "Pid") || attach__span_is(name, "NSpid")) {
        *seen |= SEEN_PID;
        return last_pid(value, &out->ns_pid);
    }
    if (attach__span_is(name, "SigCgt")) {
        *seen |= SEEN_CAUGHT;
        return hex_mask(value, &out->caught);
    }
    return attach__span_is(name, "Groups") ? group_list(value, &out->ids) : true;
}

int attach__status_parse(attach__status *out, attach__span text, attach_error *err)
{
    attach__span rest = text, line, name;
    unsigned seen = 0;
    memset(out, 0, sizeof(*out));
    while (attach__next_line(&rest, &line)) {
        uint64_t at = (uint64_t)(line.p - text.p);
        if (!attach__next_field(&line, ':', &name))
            continue;
        if (!take_line(out, name, line, &seen))
            return attach__fail_at(err, ATTACH_ERR_FORMAT, at, "status has a malformed line");
    }
    if (seen != SEEN_ALL)
        return attach__fail_at(err, ATTACH_ERR_FORMAT, text.n,
                               "status lacks one of Uid, Gid, Pid and SigCgt");
    return ATTACH_OK;
}

bool attach__status_catches(const attach__status *status, int signal)
{
    return (status->caught >> (signal - 1)) & 1;
}
