/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

static bool is_lease_id(const char id[THREADS_LEASE_ID_MAX])
{
    bool ended = false;
    for (int i = 0; i < THREADS_LEASE_ID_MAX; i++) {
        bool letter = (id[i] >= 'a' && id[i] <= 'z') || (id[i] >= '0' && id[i] <= '9');
        if (id[i] == '\0')
            ended = true;
        else if (ended || !letter)
            return false;
    }
    return id[0] != '\0';
}

static bool is_within(uint32_t value, uint32_t least, uint32_t most)
{
    return value >= least && value <= most;
}

const char *request_fault(const threads_ask *ask)
{
    if (ask->magic != THREADS_ASK)
        return "magic";
    if (ask->version != THREADS_VERSION)
        return "version";
    if (!is_lease_id(ask->lease_id))
        return "lease_id";
    if (ask->op == THREADS_OP_CLOSE)
        return NULL;
    if (ask->op != THREADS_OP_SNAPSHOT)
        return "op";
    if (!is_within(ask->max_threads, 1, THREADS_THREADS_LIMIT))
        return "max_threads";
    if (!is_within(ask->max_stacks, 0, THREADS_STACKS_LIMIT))
        return "max_stacks";
    if (!is_within(ask->max_depth, 1, THREADS_DEPTH_LIMIT))
        return "max_depth";
    if (!is_within(ask->max_bytes, THREADS_BYTES_LEAST, THREADS_BYTES_LIMIT))
        return "max_bytes";
    if (!is_within(ask->time_limit_ms, 1, THREADS_LEASE_LIMIT))
        return "time_limit_ms";
    if (!is_within(ask->pause_ms, 0, THREADS_PAUSE_LIMIT))
        return "pause_ms";
    if (!is_within(ask->lease_ms, 1, THREADS_LEASE_LIMIT))
        return "lease_ms";
    return NULL;
}
