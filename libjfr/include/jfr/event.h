/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_EVENT_H
#define JFR_EVENT_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/settings.h>
#include <jfr/type.h>
#include <jfr/variant.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * One event of any type. `value` is a struct of its fields for the functions of jfr/variant.h and
 * jfr/columns.h.
 */
typedef struct jfr_event {
    const jfr_type *type; /* borrowed until the chunk ends; NULL only with JFR_EVENTS_RAW */
    uint64_t type_id;
    uint64_t offset; /* bytes from the recording's start to the event */
    uint64_t size;   /* bytes */
    uint64_t start_ticks;
    uint64_t end_ticks;  /* start_ticks when the type has no duration */
    int64_t time_ns;     /* its start, ns since 1970 UTC */
    int64_t duration_ns; /* 0 when the type has no duration */
    jfr_variant value;
} jfr_event;

/* Flags of jfr_events_options. */
enum jfr_events_flags {
    /*
     * Also give records that are no events to a user: metadata (type id 0), checkpoints (1), and
     * records whose type the chunk does not define or is no event type. Their times are 0, and
     * their value is null.
     */
    JFR_EVENTS_RAW = 1u << 0
};

/* Which events jfr_events_next gives. Start from JFR_EVENTS_OPTIONS_INIT, which chooses all. */
typedef struct jfr_events_options {
    size_t size;            /* sizeof(jfr_events_options) */
    const char *events;     /* filter as in jfr_type_matches; NULL = all */
    const char *categories; /* filter as in jfr_type_matches; NULL = all */
    int64_t from_ns;        /* only events that end at this time or later, ns since 1970 UTC */
    int64_t to_ns;          /* only events that start before this time, ns since 1970 UTC */
    uint32_t flags;         /* bits of enum jfr_events_flags */
    uint32_t reserved;      /* 0 */
} jfr_events_options;

#ifdef __cplusplus
#define JFR_EVENTS_OPTIONS_INIT                                                                    \
    [] {                                                                                           \
        jfr_events_options init_ = jfr_events_options();                                           \
        init_.size = sizeof(jfr_events_options);                                                   \
        init_.from_ns = INT64_MIN;                                                                 \
        init_.to_ns = INT64_MAX;                                                                   \
        return init_;                                                                              \
    }()
#else
#define JFR_EVENTS_OPTIONS_INIT                                                                    \
    {                                                                                              \
        .size = sizeof(jfr_events_options), .from_ns = INT64_MIN, .to_ns = INT64_MAX               \
    }
#endif

/* A walk over a chunk's events. Several may be open on one chunk, also while samples are read. */
typedef struct jfr_events jfr_events;

/*
 * Begins a walk.
 *   out      receives it; close with jfr_events_close, before jfr_close
 *   options  NULL = all events; copied
 * Errors: JFR_ERR_USAGE (options), JFR_ERR_LIMIT (max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_events_open(jfr_events **out, jfr_chunk *chunk,
                                            const jfr_events_options *options, jfr_error *err);

/*
 * Gives the next chosen event, in the order of the file, which is not that of time. Returns 1 with
 * an event, 0 at the end. After an event with an impossible size the walk continues at the next
 * checkpoint, and jfr_file_loss reports the bytes between them.
 * Errors: JFR_ERR_LIMIT, JFR_ERR_NOMEM, JFR_ERR_USAGE (the chunk has ended).
 */
JFR_EXPORT JFR_MUST_USE int jfr_events_next(jfr_events *events, jfr_event *out, jfr_error *err);

/* Returns how many events were skipped because their start time or duration cannot be read. */
JFR_EXPORT uint64_t jfr_events_bad(const jfr_events *events);

/* Frees the walk. NULL is allowed. */
JFR_EXPORT void jfr_events_close(jfr_events *events);

/*
 * Reads the event at an offset that jfr_events_next gave once more: for callers that sort events.
 * Errors: JFR_ERR_FORMAT (no event of a defined type is there), JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_event_at(jfr_chunk *chunk, uint64_t offset, jfr_event *out,
                                         jfr_error *err);

JFR_END_DECLS

#endif
