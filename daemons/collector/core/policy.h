/* SPDX-License-Identifier: Apache-2.0 */
/* The decision about one JVM, made by the rules of the configuration or by annotations. */
#ifndef COLLECTOR_CORE_POLICY_H
#define COLLECTOR_CORE_POLICY_H

#include "rules.h"

typedef enum policy_mode { POLICY_OFF, POLICY_CONTINUOUS, POLICY_TEMPORARY } policy_mode;

typedef struct policy_decision {
    policy_mode mode;
    uint64_t until_ms;    /* POLICY_TEMPORARY: its end, Unix ms */
    uint64_t interval_ms; /* length of a window */
    event_intervals events;
    uint64_t startup_delay_ms;
    uint64_t threads_interval_ms; /* between two snapshots; 0 = none */
    bool contention_monitoring;
    uint32_t reason;  /* POLICY_OFF: why, an enum reason */
    char source[400]; /* the setting that decided, for people: "annotation ... of pod ..." */
    char error[512];  /* settings that cannot be used, and the values that are allowed; "" = none */
} policy_decision;

#endif
