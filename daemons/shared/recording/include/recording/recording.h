/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads recordings into an aggregate, with libjfr and libstackagg: used by the collector, the
 * command line, Python and WebAssembly.
 *
 * A `recording` collects any number of JFR inputs (files, or pieces of one) into one aggregate of
 * profile samples, whose type ids are those of the catalogue (catalogue/profile_type.h), and counts
 * losses. It is bounded by the caps of the aggregate and the limits of the reader, prints nothing,
 * and may be used by one thread at a time.
 */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <catalogue/profile_type.h>
#include <jfr/jfr.h>
#include <stackagg/stackagg.h>

typedef struct recording recording;

/** Error codes, with the same classes as those of the two libraries. */
enum recording_code {
    RECORDING_E_USAGE = -1,
    RECORDING_E_LIMIT = -2,
    RECORDING_E_NOMEM = -3,
    RECORDING_E_IO = -4,
    RECORDING_E_FORMAT = -5,
    RECORDING_E_STOPPED = -6, /**< a tap's progress function stopped the reading */
};

typedef struct recording_error {
    int code;
    uint64_t offset;   /**< byte in the input, or 0 */
    char message[256]; /**< one sentence */
} recording_error;

/** The part of its type that a sample belongs to, which is the tag of its label. The numbers are
 * those of the contract (ingest.proto, Facet). */
enum recording_facet {
    RECORDING_FACET_NONE = 0,
    RECORDING_FACET_LOCK_MONITOR = 1,
    RECORDING_FACET_LOCK_PARK = 2,
    RECORDING_FACET_ALLOC_IN_TLAB = 3,
    RECORDING_FACET_ALLOC_OUTSIDE_TLAB = 4,
    RECORDING_FACET_WALL_RUNNING = 5,
    RECORDING_FACET_WALL_WAITING = 6,
};

#define RECORDING_MAX_THREADS 64
#define RECORDING_MAX_SPANS   256

/** A sample before it is added. */
typedef struct recording_moment {
    int64_t time_ns;
    uint32_t thread; /**< in the aggregate */
    uint8_t state;   /**< jfr_thread_state */
} recording_moment;

/** Callbacks for samples and progress, called on the caller's thread. */
typedef struct recording_tap {
    /** Called before each JFR input with the time that it covers (jfr_file_span). May be NULL. */
    void (*begin)(void *ctx, int64_t start_ns, int64_t end_ns);
    /** Returns whether to add a sample; NULL = all are added. */
    bool (*keep)(void *ctx, const sagg *agg, const recording_moment *moment);
    /** Called for each added value, with its indices in the aggregate. May be NULL. If it returns
     * another value than 0, reading ends with RECORDING_E_NOMEM. */
    int (*added)(void *ctx, const sagg *agg, const sagg_sample *sample);
    /** Called after each chunk with its end in the unpacked input, in bytes. May be NULL. If it
     * returns another value than 0, reading ends with RECORDING_E_STOPPED. */
    int (*progress)(void *ctx, uint64_t done);
    void *ctx;
} recording_tap;

/** Options; start from RECORDING_OPTIONS_INIT, 0 = default. */
typedef struct recording_options {
    size_t size;      /**< sizeof(recording_options); an unknown tail must be zero */
    int normaliser;   /**< enum sagg_normaliser; INIT sets version 1 */
    int group;        /**< enum sagg_group */
    bool facets;      /**< label samples with their facet */
    bool wall_states; /**< for wall, add a root frame "[running]" or "[waiting]" if the recorder
                         says which */
    bool objects;     /**< label samples with the class allocated or locked */
    bool
        walk_unfinished; /**< also read a chunk that its JVM never finished (JFR_WALK_UNFINISHED) */
    uint32_t max_stacks; /**< caps of the aggregate: see sagg_options */
    uint32_t max_threads;
    uint32_t max_frames;
    uint64_t max_bytes;
    uint64_t max_samples; /**< of all inputs; later samples are counted in [dropped]. 0 = no cap */
    uint64_t max_unpacked_bytes; /**< of a gzip input: see jfr_options */
    int64_t origin_ns;           /**< per-second totals: see sagg_options */
    uint32_t seconds;
    uint32_t threads; /**< threads that read a large input, at most RECORDING_MAX_THREADS;
                         default 1. The result does not depend on it */
    bool no_threads;  /**< samples may be read without their threads, which is faster: for callers
                         that group by none and do not use totals of threads */
    bool no_alloc_objects; /**< alloc_objects may be left out, which is faster: for callers that do
                              not use this type */
    const jfr_intervals
        *inherit; /**< settings from before the first input (jfr_options.inherit); copied */
    recording_tap tap;
} recording_options;

#define RECORDING_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(recording_options), .normaliser = SAGG_NORMALISE_V1                         \
    }

/**
 * Makes an empty recording; free it with recording_free. `options` may be NULL.
 * Returns 0, RECORDING_E_USAGE (the message names the option), RECORDING_E_NOMEM.
 */
int recording_new(recording **out, const recording_options *options, recording_error *err);
/** Frees the recording and its aggregate. NULL is allowed. */
void recording_free(recording *rec);

/**
 * Reads one input to its end. Unreadable parts are counted (recording_info) and are no failure, as
 * long as the input is a recording at all. Settings are inherited from input to input. Returns 0;
 * RECORDING_E_FORMAT (not a recording; offset), RECORDING_E_IO (file only), RECORDING_E_LIMIT,
 * RECORDING_E_NOMEM. After a failure the aggregate keeps what was read before it.
 */
int recording_add_mem(recording *rec, const void *data, size_t bytes, recording_error *err);
/** Reads a file as recording_add_mem reads memory. The file is mapped: it must not be truncated
 * during the call. */
int recording_add_file(recording *rec, const char *path, recording_error *err);

/** A sample that does not come from a JFR file. */
typedef struct recording_sample {
    const sagg_frame *frames; /**< `count`, leaf to root; names may be any bytes */
    size_t count;
    sagg_str thread;                   /**< its name; empty with os_tid 0 = none */
    int64_t os_tid;                    /**< 0 = not known */
    int64_t time_ns;                   /**< UTC; 0 = not known */
    uint64_t samples;                  /**< how many samples it counts as */
    uint64_t values[PROFILE_TYPE_END]; /**< by type, both raw value and estimate; 0 = none */
} recording_sample;

/**
 * Adds a sample, if the tap keeps it; its state is unknown, its label 0. Beyond the caps its values
 * are counted in [dropped]. Returns 0; RECORDING_E_USAGE (a frame's kind); RECORDING_E_NOMEM.
 */
int recording_add_sample(recording *rec, const recording_sample *sample, recording_error *err);
/** States that samples of recording_add_sample are between these times (UTC ns, start <= end). */
void recording_add_span(recording *rec, int64_t start_ns, int64_t end_ns);

/**
 * Enforces the caps (sagg_compact) and returns the aggregate, borrowed for the recording's life.
 * Its indices are invalid after the next input. NULL only without memory. Frees the other memory of
 * reading; the next input allocates it again.
 */
const sagg *recording_aggregate(recording *rec);

/**
 * Adds to the number of events that the recorder dropped: async-profiler counts them, but does not
 * write the count into the recording.
 */
void recording_add_dropped(recording *rec, uint64_t events);

/**
 * Names the aggregate's type of counted events after what async-profiler counted ("page-faults"),
 * with `_` for characters that do not belong in a file's name. The type stays "events" if the
 * inputs differ. For callers that only write outputs: aggregates merge by the names of their types.
 * Returns 0 or RECORDING_E_NOMEM.
 */
int recording_name_events(recording *rec);

/**
 * Returns a profile type's name in the aggregate: that of the catalogue, or of the counted events
 * (recording_name_events). "" where the aggregate has no such type. Borrowed from the aggregate.
 */
const char *recording_type_name(const sagg *agg, unsigned type);

/** Losses within chunks, and events left out on purpose: sums of jfr_chunk_stats over all chunks.
 */
typedef struct recording_counts {
    uint64_t events;
    uint64_t samples;
    uint64_t bad_events;
    uint64_t
        bad_stacks; /**< samples whose stack is damaged or too large: counted without a stack */
    uint64_t rival_events; /**< left out: the recording has a better event that counts the same */
    uint64_t rivals[JFR_SOURCE_COUNT];     /**< these by jfr_sample_source */
    uint64_t idle_waits[JFR_SOURCE_COUNT]; /**< by jfr_sample_source */
    uint64_t native_samples;
    uint64_t failed_samples;
    uint64_t unmeasured_events;            /**< left out: their interval is not known */
    uint64_t unmeasured[JFR_SOURCE_COUNT]; /**< these by jfr_sample_source */
    uint64_t stackless_samples;
    uint64_t unfinished_stackless; /**< those of unfinished chunks: stacks are written at the end */
    uint64_t undefined_pools;
    uint64_t excess_samples; /**< past max_samples */
} recording_counts;

/** Facts about the inputs. Strings are NUL-terminated, cut to their room, and empty if unknown. */
typedef struct recording_info {
    char engine[32];   /**< "jfr", or async-profiler's: "perf", "ctimer", "itimer", "wall" ... */
    char profiler[32]; /**< async-profiler's version */
    char event[64];    /**< what PROFILE_TYPE_EVENTS counts, as jvm_version */
    char jvm_version[256]; /**< as the recording states it, "(the inputs differ)" where they do; as
                              java_args */
    char java_args[256];   /**< main class or jar, with arguments */
    jfr_intervals
        intervals; /**< after the last input: what the next recording_options.inherit wants */
    uint64_t interval[PROFILE_TYPE_END]; /**< of each type, in ns or bytes; 0 = not stated */
    int64_t start_ns;    /**< UTC; of the earliest chunk. 0 with end_ns 0 = no chunk */
    int64_t end_ns;      /**< of the latest */
    uint64_t covered_ns; /**< sum of the chunks' durations */
    uint64_t chunks_whole;
    uint64_t chunks_partial;
    uint64_t chunks_lost;
    uint64_t bytes_lost;
    uint64_t recorder_samples; /**< what the recorder says it lost itself: see jfr_loss */
    uint64_t recorder_bytes;
    uint64_t recorder_events; /**< what recording_add_dropped was told */
    recording_counts counts;
    uint64_t truncated_raw[PROFILE_TYPE_END]; /**< raw_value in stacks cut by the recorder or by
                                                 max_frames */
} recording_info;

void recording_get_info(const recording *rec, recording_info *out);

/**
 * Gets the spans of time that the inputs cover, ascending and without overlap: chunks that meet or
 * overlap are one span. Borrowed until the next input. Over RECORDING_MAX_SPANS a new span is
 * joined with a neighbour. Returns how many there are.
 */
size_t recording_spans(const recording *rec, const sagg_span **spans);

/** Whether nothing of the inputs is missing: chunks, events, stacks. Data left out on purpose is
 * not missing. */
bool recording_is_whole(const recording *rec);

/** Describes one loss of libjfr, as recording_loss_line does. For callers that read
 * without a `recording`. */
void recording_loss_text(const jfr_loss_record *loss, char *line, size_t room);

/**
 * Describes each thing that is missing in a sentence without a full stop: "truncated at byte 5120:
 * 300 bytes of the chunk at byte 0 lost". Writes line `index` into `line`; returns false when there
 * is no such line.
 */
bool recording_loss_line(const recording *rec, size_t index, char *line, size_t room);

/** Returns the event from which samples of a jfr_sample_source come: "jdk.ExecutionSample". Empty
 * for other numbers. */
const char *recording_source_event(unsigned source);

/** Event types that look like samples but are not read (jfr_unread). */
#define RECORDING_MAX_UNREAD 256

typedef struct recording_unread {
    char event[128];
    uint64_t count;
} recording_unread;

/**
 * Gets the unread event types that have events, in the order of the inputs: at most
 * RECORDING_MAX_UNREAD, the last of which is "others" when there are more. Borrowed until the next
 * input. Returns how many there are.
 */
size_t recording_unread_events(const recording *rec, const recording_unread **out);

/** How much a note about a recording matters. */
typedef enum recording_severity {
    RECORDING_MISSING,    /**< the lines of recording_loss_line */
    RECORDING_UNCOUNTED,  /**< samples that are in no profile although they could tell something:
                               their interval is not known, or their type is unread */
    RECORDING_INCOMPLETE, /**< what the recorder lost or cut itself, such as callers of deep stacks
                           */
    RECORDING_BY_DESIGN,  /**< samples that are in no profile because they would make it wrong: a
                               better event of the recording counts the same thing, or threads that
                               only wait. Nearly every recording of the JDK has some */
} recording_severity;

/** Takes one note: a sentence without a full stop that names the event and its count where it is
 * about events. Valid during the call. */
typedef void (*recording_note_fn)(void *ctx, recording_severity severity, const char *text);

/** Calls `take` for each note, in the order of their severity. */
void recording_notes(const recording *rec, recording_note_fn take, void *ctx);

#endif
