/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The marker file of a session, in the private directory in the target: the session's owner and
 * state. Format: docs/formats/attach.md. The target can write the file, so its values are checked,
 * and they never decide anything that could harm another process.
 */
#ifndef ATTACH_AP_MARKER_H
#define ATTACH_AP_MARKER_H

#include "files/text_impl.h"
#include <attach/profiler.h>

#define ATTACH__MARKER_MAX 4096

typedef struct attach__marker {
    char installation[ATTACH_INSTALLATION_MAX + 1];
    attach_identity identity;
    uint64_t namespace_id;   /* the pid namespace of identity.pid; 0 = not known */
    attach_ap_engine wanted; /* requested by the caller */
    attach_ap_engine engine; /* in use; AUTO while it is being started */
    char engine_reason[256];
    attach_ap_recorder recorder; /* requested by the caller */
    char owner[ATTACH_OWNER_MAX + 1];
    uint64_t cpu_interval_ns;
    uint64_t alloc_bytes;
    uint64_t lock_ns;
    uint64_t memlimit_bytes;
    uint64_t rate_limit;
    uint64_t wall_ns;
    uint64_t nativemem_bytes;
    uint64_t live;   /* 0 or 1 */
    uint64_t absent; /* as attach_ap_info.absent */
    char absent_reason[256];
    int64_t started_ms;
    int64_t until_ms;  /* when the profiler stops by itself; 0 = never */
    uint64_t handed;   /* recording bytes passed to callers by successful calls */
    uint64_t skipped;  /* the profiler's count of dropped events at the end of the last such call */
    uint64_t until_ns; /* the JDK's recorder: Unix time at which the data passed so far ends */
} attach__marker;

int attach__marker_parse(attach__marker *out, attach__span text, attach_error *err);
/* Writes the text to buf and returns its length. */
size_t attach__marker_format(char buf[ATTACH__MARKER_MAX], const attach__marker *marker);

bool attach__is_installation_id(attach__span id);
bool attach__engine_from_name(attach__span name, attach_ap_engine *out);

#endif
