/* SPDX-License-Identifier: Apache-2.0 */
/* Which JVMs are profiled, as what, and how: the rules of standalone mode. */
#ifndef COLLECTOR_CORE_RULES_H
#define COLLECTOR_CORE_RULES_H

#include "batches/batch.h"

#include <catalogue/event.h>

#include <regex.h>

/*
 * Reads "cpu,alloc=2m,lock=10ms"; without "=" cpu and lock 10 ms, wall 100 ms, alloc, live and
 * nativemem 2 MiB. 0, or -1 with a sentence in message.
 */
int events_parse(event_intervals *out, const char *text, char *message, size_t size);

/* One rule. Expressions are POSIX extended; "" = matches everything. */
typedef struct rule_text {
    const char *main_class;
    const char *command_line;
    const char *user; /* against the name, and against the number */
    const char *namespace_name;
    const char *workload; /* "" = the main class's last word */
    const char *events;
    bool off;
    uint64_t startup_delay_ms;
    uint64_t threads_ms; /* between two thread snapshots; 0 = none */
} rule_text;

typedef struct rule_set rule_set;

/* An empty set; NULL where memory ran out. */
rule_set *rule_set_new(void);
void rule_set_free(rule_set *rules);

/* Adds a rule at the end. 0, or -1 with a sentence in message that names key and mistake. */
int rule_set_add(rule_set *rules, const rule_text *rule, char *message, size_t size);

/* What the rules say of one JVM. */
typedef struct rule_verdict {
    bool profiled; /* false: no rule matches, or one that says off */
    bool off;      /* a rule says off */
    target_labels labels;
    event_intervals events;
    uint64_t startup_delay_ms;
    uint64_t threads_ms;
    bool contention; /* thread snapshots tell how long threads were blocked */
} rule_verdict;

/*
 * A matching rule with `off` wins wherever it stands; else the first that matches. The labels are
 * filled for every JVM, so that one without a rule has a name in reports too.
 */
void rule_set_match(const rule_set *rules, const local_jvm *jvm, const char *user,
                    rule_verdict *out);

#endif
