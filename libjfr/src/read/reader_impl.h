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

/* The constant pools that the library resolves; all others are only skipped. */
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

/* One pool of a chunk, over all its checkpoints: where each entry lies. Entries are decoded late.
 */
typedef struct jfr__pool {
    jfr__idmap index;  /* entry id to dense index */
    uint64_t *offsets; /* of each entry's value in the recording */
    size_t cap;
    jfr__plan plan; /* how to read an entry, into slots of enum jfr__pool_slot */
    bool defined;   /* the chunk's metadata has the type */
} jfr__pool;

/* Slots of the pool entries' plans; each role uses its own few. */
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
    uint64_t serial; /* changes when a chunk begins and when it ends: who was opened on one knows */
    jfr_chunk_info info;
    jfr__header header;
    uint64_t end; /* of the chunk's bytes in the recording */
    jfr__arena arena;
    jfr__metadata meta;
    jfr_producer producer;

    jfr__pool pools[JFR__POOL_ROLES];
    jfr__plan frame_plan;
    jfr__frames frames_by;
    jfr__plan
        *skips; /* by type index: how to read over an entry; compiled when met; in the arena */
    uint8_t states[JFR__SMALL_IDS]; /* jfr_thread_state by id */
    jfr__frame_type frame_types[JFR__SMALL_IDS];

    jfr__idmap plan_by_type; /* event type id to index in event_plans */
    jfr__event_plan event_plans[JFR_SOURCE_COUNT];
    uint32_t
        plan_of_source[JFR_SOURCE_COUNT]; /* index in event_plans, JFR_NONE = not in the metadata */
    bool seen[JFR_SOURCE_COUNT]; /* events of that source are in the chunk, as far as looked */
    bool left_out[JFR_SOURCE_COUNT];

    jfr_unread *unread;  /* unread.c; in the arena, as the next */
    uint32_t *unread_at; /* by type index: index in it + 1; 0 = none of them */
    size_t unread_count;

    jfr_intervals intervals;
    bool states_settings; /* they are its own, not those of a chunk before */
    jfr_setting *settings;
    size_t setting_count;
    size_t setting_cap;

    uint64_t middle; /* the first checkpoint of the second half of its bytes; 0 = not known */

    jfr__cursor events;   /* where jfr_samples_next goes on */
    uint64_t lost_to;     /* up to there the loss of events is recorded already */
    uint64_t *boundaries; /* where events begin by the chain of checkpoints, descending */
    size_t boundary_count;
    size_t boundary_cap;
    jfr_chunk_stats stats;
    uint64_t unknown_pools; /* found while indexing; a rewind keeps them */
    uint64_t undefined_pools;

    jfr__method_entry *methods; /* NULL until the first is asked for; in the arena */
    jfr_method named;           /* by the last jfr_chunk_frame */
    jfr__class_entry *classes;
    jfr__thread_entry *threads;
    jfr__idmap kept_at; /* kept.c */
    jfr_str *kept;
    size_t kept_cap;
    jfr_frame *frames; /* of the last jfr_chunk_stack */
    size_t frame_cap;

    struct jfr__generic *generic; /* generic.h; NULL until asked for; in the arena */
    jfr__arena scratch;           /* strings of the value that is being read */
};

enum { JFR__MAX_LOSSES = 64 };

struct jfr_file {
    jfr_allocator allocator;
    jfr__frames_loop *frames_loop;
    jfr_options options; /* defaults filled in */
    const uint8_t *data;
    size_t len;
    void *unpacked; /* owned; what data points to when the input was gzip */
    void *mapped;   /* a mapping of mapped_len bytes; owned */
    size_t mapped_len;
    bool is_part;  /* a reader of split.c: the bytes and the mapping are borrowed */
    uint64_t next; /* where the next chunk header must be */
    uint32_t chunks_seen;
    jfr_chunk chunk; /* the current one */
    bool chunk_open;
    bool chunk_damaged; /* a loss was recorded inside of it */
    bool ended;
    jfr_intervals intervals[JFR_PRODUCER_ASYNC_PROFILER + 1]; /* by producer: carried on */
    jfr_recording_info recording;
    jfr__arena recording_arena;
    jfr_loss loss;
    jfr_loss_record losses[JFR__MAX_LOSSES];
};

/* A cursor over bytes [from, to) of the chunk's recording. */
static inline jfr__cursor jfr__chunk_cursor(const jfr_chunk *chunk, uint64_t from, uint64_t to)
{
    const uint8_t *data = chunk->file->data;
    return (jfr__cursor){data, data + from, data + to, chunk->info.compressed, false};
}

/* An event's place: what its first two fields say. */
typedef struct jfr__event_head {
    uint64_t offset;
    uint64_t end;
    uint64_t type;
} jfr__event_head;

/*
 * Reads the head of the event at the cursor, which is left behind the type. Returns false at the
 * cursor's end and where the size is impossible (0, or beyond the end).
 */
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
/* Counts the chunk that was current and gives its pages back, now that nothing more can happen to
 * it. */
void jfr__file_leave(jfr_file *file);

/* loss.c */
void jfr__loss_add(jfr_file *file, jfr_loss_reason reason, uint64_t offset, uint64_t bytes,
                   uint64_t chunk);
/* Adds the losses of one file to those of another. */
void jfr__loss_take(jfr_file *to, const jfr_file *from);

/* chunk.c: `whole` = the header says finished and its bytes are all there. */
void jfr__chunk_init(jfr_chunk *chunk, jfr_file *file);
int jfr__chunk_open(jfr_chunk *chunk, const jfr__header *header, uint64_t offset, uint64_t end,
                    bool whole, jfr_error *err);
void jfr__chunk_free(jfr_chunk *chunk);

/* Whether a chunk that its writer has finished lies at `offset`, with all of its bytes. */
bool jfr__whole_chunk(const jfr_file *file, uint64_t offset, jfr__header *header);

/* pool.c */
int jfr__pools_define(jfr_chunk *chunk, jfr_error *err);
int jfr__pools_read(jfr_chunk *chunk, jfr_error *err);
/* The text of a pool entry of role string, symbol, state, frame type or group; null when absent. */
int jfr__pool_text(jfr_chunk *chunk, jfr__pool_role role, uint64_t id, jfr_str *out,
                   jfr_error *err);
int jfr__pool_text_at(jfr_chunk *chunk, jfr__pool_role role, uint32_t index, jfr_str *out,
                      jfr_error *err); /* of entry `index` */
/* Where that text lies; 0 = it has none. */
int jfr__pool_text_offset(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index,
                          uint64_t *offset, jfr_error *err);
int jfr__string_at(jfr_chunk *chunk, uint64_t offset, jfr_str *out, jfr_error *err);
/* Reads entry `index` of a pool into slots[JFR__POOL_SLOTS]. */
int jfr__pool_entry(const jfr_chunk *chunk, jfr__pool_role role, uint32_t index, uint64_t *slots,
                    jfr_error *err);

/*
 * kept.c: text that is asked for again and again, and was dear to make, is made once. `key` tells
 * which: where it lies, and in what form.
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
/* Keeps what lives as long as the chunk, unless it costs less to make it again. Returns 0 or
 * JFR_ERR_NOMEM. */
int jfr__kept_put(jfr_chunk *chunk, uint64_t key, jfr_str text, jfr_error *err);
/* Whether text was borrowed from the recording. */
bool jfr__lies_in_file(const jfr_chunk *chunk, jfr_str text);

/* sample.c */
int jfr__samples_define(jfr_chunk *chunk, jfr_error *err);
/* Leaves the chunk as jfr_samples_next does when it returns 0; `lost` = at `offset` is no event. */
void jfr__samples_end(jfr_chunk *chunk, uint64_t offset, bool lost);

/*
 * resume.c: the events that the chunk's chain of checkpoints proves. An event that was written
 * while another one was leaves bytes of which nobody knows where the next event begins.
 */
int jfr__boundary_add(jfr_chunk *chunk, uint64_t offset, jfr_error *err);
/* The first of them behind `offset`, or the chunk's end. */
uint64_t jfr__boundary_behind(const jfr_chunk *chunk, uint64_t offset);
/* Puts the cursor there and records what is lost, unless it is recorded already: at `offset` is no
 * event. Returns false at the chunk's end. */
bool jfr__resume(jfr_chunk *chunk, jfr__cursor *c, uint64_t offset);

/* map.c: gives pages of a mapped recording back to the system; they are read again when needed. */
void jfr__drop_pages(const jfr_file *file, uint64_t from, uint64_t to);

/* settings.c */
int jfr__settings_read(jfr_chunk *chunk, jfr_error *err);
/* Takes over into `file` what a chunk of another file tells of the recording they share. */
int jfr__recording_take(jfr_file *file, const jfr_recording_info *from, jfr_error *err);

/* stack.c: tells the method of a frame that is decoded up to its method_index, and its kind. The
 * method goes into `room`, without its descriptor; NULL = into the chunk, which keeps it. */
int jfr__frame_name(jfr_chunk *chunk, jfr_frame *frame, jfr_method *room, jfr_error *err);
int jfr__frame_types_read(jfr_chunk *chunk, jfr_error *err);

/* frames.c: reads the frames at the cursor. */
int jfr__frames_read(const jfr_chunk *chunk, jfr__cursor *c, jfr_frame_ref *out, uint32_t count,
                     jfr_error *err);
/* Leaves the cursor at the stack's first frame. Returns as jfr_chunk_stack_refs. */
int jfr__stack_enter(const jfr_chunk *chunk, uint32_t index, jfr__cursor *c, jfr_stack_ref *out,
                     jfr_error *err);

/* class.c: whether a class is one of java.util.concurrent's locks (see jfr/sample.h). */
int jfr__class_is_lock(jfr_chunk *chunk, uint32_t index, bool *out, jfr_error *err);

#endif
