/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_SOURCE_H
#define JFR_SRC_SOURCE_H

#include "read/reader_impl.h"

/* How an event becomes a sample's values; see jfr/sample.h. */
typedef enum jfr__rule {
    JFR__RULE_TIME = 0,  /* the amount times the interval */
    JFR__RULE_MAIN_TIME, /* as above; async-profiler's main event can also be wall-clock time or a
                            count */
    JFR__RULE_PERIOD,    /* the event's own period */
    JFR__RULE_TLAB,      /* the amount, and the number of objects of the event's size in it */
    JFR__RULE_OBJECT,    /* the amount, and one object */
    JFR__RULE_AMOUNT,    /* the amount */
    JFR__RULE_FLOOR,     /* the amount, which counts as at least one interval */
    JFR__RULE_WEIGHTED,  /* the amount times the event's weight; for allocations also objects */
    JFR__RULE_SPAN,      /* one call, and its duration */
    JFR__RULE_WAIT       /* a wait, and its duration, which counts as at least one interval */
} jfr__rule;

/* An event type that yields samples. To add one, add a jfr_sample_source and a row in source.c, and
 * a rule if no rule fits. */
typedef struct jfr__source {
    const char *event;
    uint8_t rule;      /* jfr__rule */
    uint8_t type;      /* jfr_profile_type of its first value */
    uint8_t amount;    /* jfr__event_slot; JFR__SKIP = each event counts as one */
    uint8_t lock_kind; /* jfr_lock_kind; a park that waits for no lock becomes an idle one */
    uint8_t interval;  /* offset in jfr_intervals; 0 = none applies */
} jfr__source;

extern const jfr__source jfr__sources[JFR_SOURCE_COUNT];

/* Returns the interval or threshold of events of that source; 0 = unknown, or none applies. */
uint64_t jfr__source_interval(const jfr_chunk *chunk, jfr_sample_source source);

/*
 * Decides what a thread waited for, and whether samples of such waits are wanted. Samples of other
 * sources have no lock kind and are wanted. Returns 0 or a negative code.
 */
int jfr__source_wait(jfr_chunk *chunk, jfr_sample_source source, uint32_t klass, uint8_t *lock_kind,
                     bool *is_wanted, jfr_error *err);

#endif
