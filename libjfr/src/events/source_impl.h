/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SOURCE_H
#define JFR_SRC_SOURCE_H

#include "read/reader_impl.h"

/* How an event becomes a sample's values, by jfr/sample.h. */
typedef enum jfr__rule {
    JFR__RULE_TIME = 0,  /* the amount times the interval */
    JFR__RULE_MAIN_TIME, /* the same; of async-profiler's main event it can be wall-clock time, or a
                            count */
    JFR__RULE_PERIOD,    /* the event's own period */
    JFR__RULE_TLAB,      /* the amount, and as many objects of the event's size as make it */
    JFR__RULE_OBJECT,    /* the amount, and one object */
    JFR__RULE_AMOUNT,    /* the amount */
    JFR__RULE_FLOOR,     /* the amount; it stands for an interval at least */
    JFR__RULE_WEIGHTED,  /* the amount times the event's weight; of allocations, objects too */
    JFR__RULE_SPAN,      /* one, and its duration */
    JFR__RULE_WAIT       /* a wait, and its duration, which stands for an interval at least */
} jfr__rule;

/* An event type that yields samples. A new one is a jfr_sample_source and a row in source.c, and
 * where none of the rules fits, a rule. */
typedef struct jfr__source {
    const char *event;
    uint8_t rule;      /* jfr__rule */
    uint8_t type;      /* jfr_profile_type of its first value */
    uint8_t amount;    /* jfr__event_slot; JFR__SKIP = each event counts as one */
    uint8_t lock_kind; /* jfr_lock_kind; a park that waits for no lock becomes an idle one */
    uint8_t interval;  /* offset in jfr_intervals; 0 = none applies */
} jfr__source;

extern const jfr__source jfr__sources[JFR_SOURCE_COUNT];

/* The interval or threshold that holds for events of that source; 0 = unknown, or none applies. */
uint64_t jfr__source_interval(const jfr_chunk *chunk, jfr_sample_source source);

/*
 * Decides how a thread waited, and whether samples of such waits are wanted; other sources have no
 * lock kind and are wanted. Returns 0 or a negative code.
 */
int jfr__source_wait(jfr_chunk *chunk, jfr_sample_source source, uint32_t klass, uint8_t *lock_kind,
                     bool *is_wanted, jfr_error *err);

#endif
