/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_READER_H
#define JFR_SRC_READER_H

#include "memory_impl.h"
#include "metadata/metadata_impl.h"
#include "metadata/plan_impl.h"
#include "pools/frames_impl.h"
#include "pools/idmap_impl.h"
#include "read/cursor_impl.h"
#include "read/header_impl.h"

#include <jfr/jfr.h>

/* The constant pools that the library reads; it skips all others. */
typedef enum jfr__pool_role {
    JFR__POOL_STRING = 0,
    JFR__POOL_SYMBOL,
    JFR__POOL_CLASS,
    JFR__POOL_METHOD,
    JFR__POOL_STACK,
    JFR__POOL_THREAD,
    JFR__POOL_GROUP,
    JFR__POOL_STATE,
    JFR__POOL_FRAME_TYPE,
    JFR__POOL_ROLES
} jfr__pool_role;

/* The entries of one constant pool in all checkpoints of a chunk. Entries are decoded when they are
 * first used. */
typedef struct jfr__pool {
    jfr__idmap index;  /* entry id to dense index */
    uint64_t *offsets; /* of each entry's value, in the recording */
    size_t cap;
    jfr__plan plan; /* how to read an entry, into slots of enum jfr__pool_slot */
    bool defined;   /* the chunk's metadata has the pool's type */
} jfr__pool;

/* Slots of the plans that read pool entries; each role uses a few of them. */
enum jfr__pool_slot {
    JFR__SLOT_TEXT = 0, /* string, symbol, state, frame type, group: the string's offset */
    JFR__SLOT_NAME = 1, /* class, method: a symbol */
    JFR__SLOT_TYPE = 2, /* method: its class; frame: its frame type */
    JFR__SLOT_DESCRIPTOR = 3,
    JFR__SLOT_TRUNCATED = 4,
    JFR__SLOT_FRAMES = 5,
    JFR__SLOT_METHOD = 6,
    JFR__SLOT_LINE = 7,
    JFR__SLOT_BCI = 8,
    JFR__SLOT_OS_NAME = 9,
    JFR__SLOT_OS_TID = 10,
    JFR__SLOT_JAVA_NAME = 11,
    JFR__SLOT_JAVA_TID = 12,
    JFR__SLOT_GROUP = 13,
    JFR__SLOT_VIRTUAL = 14,
    JFR__POOL_SLOTS = 15
};

/* Slots of sample events. */
enum jfr__event_slot {
    JFR__SLOT_START = 0,
    JFR__SLOT_DURATION,
    JFR__SLOT_THREAD,
    JFR__SLOT_STACK,
    JFR__SLOT_STATE,
    JFR__SLOT_CLASS,
    JFR__SLOT_SIZE,
    JFR__SLOT_WEIGHT,
    JFR__SLOT_SAMPLES,
    JFR__SLOT_PERIOD,
    JFR__SLOT_FAILED,
    JFR__EVENT_SLOTS
};

#define JFR__NO_STATE UINT64_MAX /* in JFR__SLOT_STATE: the event type has no such field */

/* How to read one event type that yields samples. */
typedef struct jfr__event_plan {
    jfr__plan plan;
    uint64_t type_id;
    jfr_sample_source source;
    jfr__unit duration_unit;
    jfr__unit period_unit;
    jfr__shape weight_shape; /* of JFR__SLOT_WEIGHT */
} jfr__event_plan;

/* A decoded pool entry, kept for the chunk's life. */
typedef struct jfr__method_entry {
    jfr_method method;
    bool decoded;
} jfr__method_entry;

typedef struct jfr__class_entry {
    jfr_class klass;
    bool decoded;
} jfr__class_entry;

typedef struct jfr__thread_entry {
    jfr_thread thread;
    bool decoded;
} jfr__thread_entry;

struct jfr_chunk {
    jfr_file *file;
    uint64_t serial; /* changes when a chunk begins and when it ends, so that objects opened on a
                        chunk can detect its end */
    jfr_chunk_info info;
    jfr__header header;
    uint64_t end; /* end of the chunk's bytes in the recording */
    jfr__arena arena;
    jfr__metadata meta;
    jfr_producer producer;

    jfr__pool pools[JFR__POOL_ROLES];
    jfr__plan frame_plan;
    jfr__frames frames_by;
    jfr__plan
        *skips; /* by type index: how to skip an entry; compiled when first needed; in the arena */
    uint8_t states[JFR__SMALL_IDS]; /* jfr_thread_state by id */
    jfr__frame_type frame_types[JFR__SMALL_IDS];

    jfr__idmap plan_by_type; /* event type id to index in event_plans */
    jfr__event_plan event_plans[JFR_SOURCE_COUNT];
    uint32_t
        plan_of_source[JFR_SOURCE_COUNT]; /* index in event_plans, JFR_NONE = not in the metadata */
    bool seen[JFR_SOURCE_COUNT]; /* the chunk has events of that source, as far as it was walked */
    bool left_out[JFR_SOURCE_COUNT];

    jfr_unread *unread; /* unread.c; in the arena */
    uint32_t
        *unread_at; /* by type index: index in `unread` + 1; 0 = not an unread type; in the arena */
    size_t unread_count;

    jfr_intervals intervals;
    bool states_settings; /* the chunk itself states intervals; else they are those of an earlier
                             chunk */
    jfr_setting *settings;
    size_t setting_count;
    size_t setting_cap;

    uint64_t middle; /* the first checkpoint of the second half of its bytes; 0 = not known */

    jfr__cursor events;   /* where jfr_samples_next continues */
    uint64_t lost_to;     /* losses of events before this offset are recorded already */
    uint64_t *boundaries; /* offsets of events that the chain of checkpoints proves, descending */
    size_t boundary_count;
    size_t boundary_cap;
    jfr_chunk_stats stats;
    uint64_t unknown_pools; /* found while indexing; a rewind keeps them */
    uint64_t undefined_pools;

    jfr__method_entry *methods; /* NULL until one is first needed; in the arena */
    jfr_method named;           /* method of the last jfr_chunk_frame */
    jfr__class_entry *classes;
    jfr__thread_entry *threads;
    jfr__idmap kept_at; /* kept.c */
    jfr_str *kept;
    size_t kept_cap;
    jfr_frame *frames; /* frames of the last jfr_chunk_stack */
    size_t frame_cap;

    struct jfr__generic *generic; /* generic_impl.h; NULL until first needed; in the arena */
    jfr__arena scratch;           /* strings of the value that is being read */
};

enum { JFR__MAX_LOSSES = 64 };

struct jfr_file {
    jfr_allocator allocator;
    jfr__frames_loop *frames_loop;
    jfr_options options; /* defaults filled in */
    const uint8_t *data;
    size_t len;
    void *unpacked; /* owned; `data` points to it when the input was gzip */
    void *mapped;   /* a mapping of mapped_len bytes; owned */
    size_t mapped_len;
    bool is_part;  /* opened by split.c: the bytes and the mapping are borrowed */
    uint64_t next; /* where the next chunk header must be */
    uint32_t chunks_seen;
    jfr_chunk chunk; /* the current one */
    bool chunk_open;
    bool chunk_damaged; /* a loss inside the chunk was recorded */
    bool ended;
    jfr_intervals
        intervals[JFR_PRODUCER_ASYNC_PROFILER + 1]; /* by producer; kept from chunk to chunk */
    jfr_recording_info recording;
    jfr__arena recording_arena;
    jfr_loss loss;
    jfr_loss_record losses[JFR__MAX_LOSSES];
};

/* Returns a cursor over bytes [from, to) of the chunk's recording. */
static inline jfr__cursor jfr__chunk_cursor(const jfr_chunk *chunk, uint64_t from, uint64_t to)
{
    const uint8_t *data = chunk->file->data;
    return (jfr__cursor){data, data + from, data + to, chunk->info.compressed, false};
}

/* The first two fields of an event. */
typedef struct jfr__event_head {
    uint64_t offset;
    uint64_t end;
    uint64_t type;
} jfr__event_head;

/* Reads the head of the event at the cursor and moves the cursor past the type. Returns false at
 * the cursor's end and for an impossible size (0, or beyond the end). */
static inline bool jfr__event_next(jfr__cursor *c, jfr__event_head *out)
{
    out->offset = jfr__cursor_offset(c);
    uint64_t left = jfr__cursor_left(c);
    uint32_t size = jfr__read_count(c);
    out->type = jfr__read_long(c);
    out->end = out->offset + size;
    return !c->failed && size <= left && out->end >= jfr__cursor_offset(c);
}

/* file.c */
int jfr__file_new(jfr_file **out, const jfr_options *opts, jfr_error *err);
/* Counts the current chunk as whole or partial and releases its pages, before the file moves to
 * another chunk. */
void jfr__file_leave(jfr_file *file);

/* loss.c */
void jfr__loss_add(jfr_file *file, jfr_loss_reason reason, uint64_t offset, uint64_t bytes,
                   uint64_t chunk);
/* Adds the losses of one file to those of another. */
void jfr__loss_take(jfr_file *to, const jfr_file *from);

/* chunk.c. `whole`: the header says that the chunk is finished, and all of its bytes are present.
 */
void jfr__chunk_init(jfr_chunk *chunk, jfr_file *file);
int jfr__chunk_open(jfr_chunk *chunk, const jfr__header *header, uint64_t offset, uint64_t end,
                    bool whole, jfr_error *err);
void jfr__chunk_free(jfr_chunk *chunk);

/* Returns whether a finished chunk is at `offset`, with all of its bytes. */
bool jfr__whole_chunk(const jfr_file *file, uint64_t offset, jfr__header *header);

/* pool.c */
int jfr__pools_define(jfr_chunk *chunk, jfr_error *err);
int jfr__pools_read(jfr_chunk *chunk, jfr_error *err);
/* Gives the text of a pool entry of role string, symbol, state, frame type or group; null when
 * absent. */
int jfr__pool_text(jfr_chunk *chunk, jfr__pool_role role, uint64_t id, jfr_str *out,
                   jfr_error *err);
int jfr__pool_text_at(jfr_chunk *chunk, jfr__pool_role role, uint32_t index, jfr_str *out,
                      jfr_error *err); /* of entry `index` */
/* Returns the offset of that text; 0 = the entry has none. */
int jfr__pool_text_offset(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index,
                          uint64_t *offset, jfr_error *err);
int jfr__string_at(jfr_chunk *chunk, uint64_t offset, jfr_str *out, jfr_error *err);
/* Reads entry `index` of a pool into slots[JFR__POOL_SLOTS]. */
int jfr__pool_entry(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index, uint64_t *slots,
                    jfr_error *err);

/*
 * kept.c: a cache of texts that are requested often and are expensive to make. `key` identifies a
 * text by its offset and its form.
 */
static inline uint64_t jfr__kept_text(uint64_t offset)
{
    return offset * 2;
}
static inline uint64_t jfr__kept_class_name(uint64_t offset_of_symbol)
{
    return offset_of_symbol * 2 + 1;
}
bool jfr__kept_find(const jfr_chunk *chunk, uint64_t key, jfr_str *out);
/* Keeps a text that lives as long as the chunk, unless making it again is cheaper. Returns 0 or
 * JFR_ERR_NOMEM. */
int jfr__kept_put(jfr_chunk *chunk, uint64_t key, jfr_str text, jfr_error *err);
/* Returns whether a text is part of the recording's bytes. */
bool jfr__lies_in_file(const jfr_chunk *chunk, jfr_str text);

/* sample.c */
int jfr__samples_define(jfr_chunk *chunk, jfr_error *err);
/* Leaves the chunk in the state of a jfr_samples_next that returned 0. `lost`: there is no valid
 * event at `offset`. */
void jfr__samples_end(jfr_chunk *chunk, uint64_t offset, bool lost);

/*
 * resume.c: the offsets of events that the chunk's chain of checkpoints proves. When a writer
 * interrupts another, it leaves bytes in which the start of the next event cannot be found; reading
 * continues at one of these offsets.
 */
int jfr__boundary_add(jfr_chunk *chunk, uint64_t offset, jfr_error *err);
/* Returns the first such offset after `offset`, or the chunk's end. */
uint64_t jfr__boundary_behind(const jfr_chunk *chunk, uint64_t offset);
/* Moves the cursor to the first proven event after the invalid one at `offset`, and records the
 * bytes between as lost, unless they are recorded already. Returns false at the chunk's end. */
bool jfr__resume(jfr_chunk *chunk, jfr__cursor *c, uint64_t offset);

/* map.c: releases pages of a mapped recording; the system reads them again when needed. */
void jfr__drop_pages(const jfr_file *file, uint64_t from, uint64_t to);

/* settings.c */
int jfr__settings_read(jfr_chunk *chunk, jfr_error *err);
/* Copies into `file` what a chunk of another reader of the same recording says about the recording.
 */
int jfr__recording_take(jfr_file *file, const jfr_recording_info *from, jfr_error *err);

/* stack.c: completes a frame, whose method_index is known, with its method and kind. Writes the
 * method to `room`, without its descriptor; with NULL the chunk keeps the method. */
int jfr__frame_name(jfr_chunk *chunk, jfr_frame *frame, jfr_method *room, jfr_error *err);
int jfr__frame_types_read(jfr_chunk *chunk, jfr_error *err);

/* frames.c: reads the frames at the cursor. */
int jfr__frames_read(const jfr_chunk *chunk, jfr__cursor *c, jfr_frame_ref *out, uint32_t count,
                     jfr_error *err);
/* Moves the cursor to the stack's first frame. Returns what jfr_chunk_stack_refs returns. */
int jfr__stack_enter(const jfr_chunk *chunk, uint32_t index, jfr__cursor *c, jfr_stack_ref *out,
                     jfr_error *err);

/* class.c: finds out whether a class is a lock of java.util.concurrent (see jfr/sample.h). */
int jfr__class_is_lock(jfr_chunk *chunk, uint32_t index, bool *out, jfr_error *err);

#endif
