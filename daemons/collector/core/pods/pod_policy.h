/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision that annotations and labels of a pod and its namespace make for one container. The
 * rules, in order: `off` at any level wins; else the nearest temporary that has not ended; else the
 * nearest continuous; else off. Nearest means container, then pod, then namespace. The other keys
 * take their nearest valid value.
 */
#ifndef COLLECTOR_CORE_PODS_POD_POLICY_H
#define COLLECTOR_CORE_PODS_POD_POLICY_H

#include "../policy.h"
#include "first_seen.h"
#include "pod.h"

/* The values that apply if no annotation sets them. */
typedef struct pod_policy_defaults {
    event_intervals events;
    uint64_t startup_delay_ms;
    uint64_t continuous_interval_ms;
    uint64_t temporary_interval_ms;
    uint64_t continuous_threads_ms;
    uint64_t temporary_threads_ms;
} pod_policy_defaults;

typedef struct pod_policy_input {
    const pod *pod;
    const pod_container *container;
    const pod_namespace *space; /* NULL = it has no settings */
    const pod_policy_defaults *defaults;
    uint64_t now_ms;
    first_seen *memory;
} pod_policy_input;

/*
 * Decides. A value that cannot be used is ignored, and out->error says which it is, why, and what
 * is allowed; all other values apply.
 */
void pod_policy_decide(const pod_policy_input *input, policy_decision *out);

/* Remembers when each valid profile-for of an object was first seen; is_old as in first_seen_of. */
void pod_policy_note(first_seen *memory, const char *uid, const pod_setting *settings, size_t count,
                     uint64_t now_ms, bool is_old);

#endif
