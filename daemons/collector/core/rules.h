/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of standalone mode: which JVMs are profiled, under which name, and how. */
#ifndef COLLECTOR_CORE_RULES_H
#define COLLECTOR_CORE_RULES_H

#include "batches/batch.h"

#include <catalogue/event.h>

#include <regex.h>

/*
 * Reads "cpu,alloc=2m,lock=10ms"; without "=", cpu and lock have 10 ms, wall 100 ms, alloc, live
 * and nativemem 2 MiB. Returns 0, or -1 with a sentence in message.
 */
int events_parse(event_intervals *out, const char *text, char *message, size_t size);

/* One rule. Expressions are POSIX extended; "" = matches everything. */
typedef struct rule_text {
    const char *main_class;
    const char *command_line;
    const char *user; /* matches the name or the number */
    const char *namespace_name;
    const char *workload; /* "" = the last word of the main class */
    const char *events;
    bool off;
    uint64_t startup_delay_ms;
    uint64_t threads_ms; /* between two thread snapshots; 0 = none */
} rule_text;

typedef struct rule_set rule_set;

/* Makes an empty set; NULL without memory. */
rule_set *rule_set_new(void);
void rule_set_free(rule_set *rules);

/* Adds a rule at the end. Returns 0, or -1 with a sentence in message that names the key and the
 * mistake. */
int rule_set_add(rule_set *rules, const rule_text *rule, char *message, size_t size);

/* The result of the rules for one JVM. */
typedef struct rule_verdict {
    bool profiled; /* false: no rule matches, or one says off */
    bool off;      /* a rule says off */
    target_labels labels;
    event_intervals events;
    uint64_t startup_delay_ms;
    uint64_t threads_ms;
    bool contention; /* thread snapshots contain how long threads were blocked */
} rule_verdict;

/*
 * A matching rule with `off` wins wherever it is in the list; else the first rule that matches. The
 * labels are filled for every JVM, so that one without a rule has a name in reports, too.
 */
void rule_set_match(const rule_set *rules, const local_jvm *jvm, const char *user,
                    rule_verdict *out);

#endif
