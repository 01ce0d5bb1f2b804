/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that a session can record, with their intervals. Rules, annotations and the command
 * line write them as "cpu,alloc=2m,lock=10ms,wall". Pure; any thread.
 */
#ifndef CATALOGUE_EVENT_H
#define CATALOGUE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <catalogue/profile_type.h>

typedef enum event_id {
    EVENT_CPU,
    EVENT_ALLOC,
    EVENT_LOCK,
    EVENT_WALL,
    EVENT_LIVE, /* sampled allocations that are still reachable in the end */
    EVENT_NATIVEMEM,
    EVENTS
} event_id;

/* Intervals by event, in the event's unit (ns or bytes); 0 = the event is not recorded. */
typedef struct event_intervals {
    uint64_t of[EVENTS];
} event_intervals;

/* Returns the event's name: "cpu", "alloc", "lock", "wall", "live", "nativemem". */
const char *event_name(event_id event);

/*
 * Reads a list of events, each a name or a name with an interval. An interval has a unit, and is
 * not below the event's floor: a CPU timer cannot fire more often than the kernel's tick, and
 * shorter intervals of other events would cost the JVM more than they are worth. `defaults` are the
 * intervals of names without one. Allocations and live objects are sampled together, so the
 * interval of one applies to both. 0, or -1 with a sentence in message that names the item and what
 * is allowed.
 */
int event_intervals_parse(event_intervals *out, const char *list, const event_intervals *defaults,
                          char *message, size_t size);

/* Describes the intervals that are allowed ("a time of at least 1ms ...") if this one is below the
 * event's floor; returns NULL if it may be used. 0, which means no event, may be used. Static. */
const char *event_interval_objection(event_id event, uint64_t interval);

/* Whether any event is recorded. */
bool event_intervals_any(const event_intervals *events);

/* Returns the source of an event's samples. */
enum profile_source event_source(event_id event);

/* Whether the events that are recorded yield samples of that source. */
bool event_intervals_yield(const event_intervals *events, enum profile_source source);

#endif
