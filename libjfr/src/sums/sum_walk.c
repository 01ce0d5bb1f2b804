/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the events of a chunk, or of a part of one, for sums. */
#include "events/source_impl.h"
#include "sums/pattern_impl.h"
#include "sums/sum_add_impl.h"

#include <string.h>

/* ---- shapes ---- */

/* Returns whether all events of a source are left out, and why. */
static bool skips(const jfr_chunk *chunk, jfr_sample_source source, jfr__skip *why)
{
    uint32_t flags = chunk->file->options.flags;
    bool native = source == JFR_SOURCE_NATIVE_METHOD && (flags & JFR_KEEP_NATIVE_SAMPLES) == 0;
    bool idle = source == JFR_SOURCE_MONITOR_WAIT && (flags & JFR_KEEP_IDLE_WAITS) == 0;
    *why = chunk->left_out[source] ? JFR__RIVAL : native ? JFR__NATIVE : JFR__IDLE;
    return chunk->left_out[source] || native || idle;
}

static jfr__recipe recipe_of(const jfr_chunk *chunk, jfr_sample_source source, bool with_objects,
                             uint64_t *floor)
{
    const jfr__source *row = &jfr__sources[source];
    *floor = 0;
    switch ((jfr__rule)row->rule) {
    case JFR__RULE_MAIN_TIME:
    case JFR__RULE_TIME:
        return row->amount == JFR__SKIP ? JFR__ADD_NOTHING : JFR__ADD_FIRST;
    case JFR__RULE_PERIOD:
        return JFR__ADD_PERIOD;
    case JFR__RULE_SPAN:
        return JFR__ADD_SPAN;
    case JFR__RULE_WEIGHTED:
        return row->type == JFR_ALLOC_BYTES ? JFR__ADD_TLAB : JFR__ADD_FIRST;
    case JFR__RULE_TLAB:
        return with_objects ? JFR__ADD_TLAB : JFR__ADD_FIRST;
    case JFR__RULE_FLOOR:
        *floor = jfr__source_interval(chunk, source);
        return JFR__ADD_FLOOR;
    case JFR__RULE_WAIT:
        *floor = jfr__source_interval(chunk, source);
        return *floor != 0 ? JFR__ADD_WAIT : JFR__ADD_SPAN;
    case JFR__RULE_OBJECT:
    case JFR__RULE_AMOUNT:
        break;
    }
    return JFR__ADD_FIRST;
}

static uint8_t slot_in(const jfr__plan *plan, uint8_t slot)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->ops[i].slot == slot)
            return slot;
    }
    return JFR__SKIP;
}

static void shape_define(const jfr__tally *sums, jfr__sum_shape *shape, const jfr__event_plan *plan)
{
    const jfr_chunk *chunk = sums->chunk;
    jfr_sample_source source = plan->source;
    const jfr__source *row = &jfr__sources[source];
    bool with_objects = (sums->flags & JFR_SUMS_NO_ALLOC_OBJECTS) == 0;
    bool weighted = row->rule == JFR__RULE_WEIGHTED;
    bool tlab = row->rule == JFR__RULE_TLAB && with_objects;
    memset(shape, 0, sizeof(*shape));
    for (int i = 0; i < JFR__LANES_NEAR; i++)
        shape->near[i].thread = JFR__NO_THREAD;
    for (int i = 0; i < 1 << JFR__LAYOUT_BITS; i++)
        shape->layouts[i].key = JFR__FAR;
    shape->plan = plan;
    shape->recipe = recipe_of(chunk, source, with_objects, &shape->floor);
    if (skips(chunk, source, &shape->skip))
        shape->recipe = JFR__COUNT_ONLY;
    /* The class of a park of the JDK decides whether it is contention. */
    shape->judged = row->lock_kind == JFR_LOCK_PARK && chunk->producer == JFR_PRODUCER_JDK;
    shape->keep_class = shape->judged || (sums->flags & JFR_SUMS_CLASSES) != 0;
    bool threads = (sums->flags & JFR_SUMS_NO_THREADS) == 0;
    const uint8_t wanted[JFR__SUM_SLOTS] = {
        [JFR__SUM_THREAD] = threads ? JFR__SLOT_THREAD : JFR__SKIP,
        [JFR__SUM_STACK] = JFR__SLOT_STACK,
        [JFR__SUM_FIRST] = tlab ? JFR__SLOT_SIZE : row->amount,
        [JFR__SUM_SECOND] = tlab       ? row->amount
                            : weighted ? JFR__SLOT_WEIGHT
                                       : JFR__SKIP,
        [JFR__SUM_CLASS] = shape->keep_class ? JFR__SLOT_CLASS : JFR__SKIP,
        [JFR__SUM_STATE] = JFR__SLOT_STATE,
        [JFR__SUM_FAILED] = JFR__SLOT_FAILED,
        [JFR__SUM_TIME] = sums->seconds != 0 ? JFR__SLOT_START : JFR__SKIP,
    };
    for (int i = 0; i < JFR__SUM_SLOTS; i++)
        shape->slots[i] = wanted[i] != JFR__SKIP ? slot_in(&plan->plan, wanted[i]) : JFR__SKIP;
    shape->simple = !shape->keep_class && shape->slots[JFR__SUM_STATE] == JFR__SKIP &&
                    shape->slots[JFR__SUM_FAILED] == JFR__SKIP &&
                    shape->slots[JFR__SUM_TIME] == JFR__SKIP;
}

void jfr__sums_prepare(jfr__tally *sums, const jfr_chunk *chunk)
{
    sums->chunk = chunk;
    jfr__sums_clear(sums, chunk->pools[JFR__POOL_STACK].index.count);
    sums->reached = 0;
    sums->kept = 0;
    memset(sums->shape_of, 0, sizeof(sums->shape_of));
    memset(sums->shaped, 0, sizeof(sums->shaped));
    for (uint32_t index = 0; index < chunk->plan_by_type.count; index++) {
        uint64_t id = chunk->event_plans[index].type_id;
        if (id < JFR__TYPES_NEAR)
            sums->shape_of[id] = JFR__TO_COME;
    }
}

/* Returns the shape of a plan's events, and makes it at the first event. */
static const jfr__sum_shape *shape_at(jfr__tally *sums, uint32_t index)
{
    const jfr__event_plan *plan = &sums->chunk->event_plans[index];
    jfr__sum_shape *shape = &sums->shapes[index];
    if (sums->shaped[index])
        return shape;
    sums->shaped[index] = true;
    shape_define(sums, shape, plan);
    uint64_t id = plan->type_id;
    if (id >= JFR__TYPES_NEAR)
        return shape;
    sums->shape_of[id] = (uint8_t)(index + 1);
    shape->type_mask = id < 0x80 ? 0xFF00 : 0xFFFF00;
    shape->type_bits = (uint32_t)(id < 0x80 ? id : (id & 0x7F) | 0x80 | id >> 7 << 8) << 8;
    return shape;
}

/* ---- layouts ---- */

/* Returns the number of bytes of the integer at `p`, or 0 if it is longer than `left`. */
static size_t varint_bytes(const uint8_t *p, size_t left)
{
    for (size_t n = 0; n < left && n < 8; n++) {
        if (p[n] < 0x80)
            return n + 1;
    }
    return left >= 9 ? 9 : 0; /* the ninth byte is the last, whatever its top bit */
}

/* Returns the most bytes of a slot's integer in a layout. Stack numbers of more than 28 bits are
 * rare and are read one by one; a row's key has 32 bits for the stack. */
static size_t most_bytes(int slot)
{
    return (slot < JFR__SUM_CLASS && slot != JFR__SUM_STACK) || slot == JFR__SUM_TIME ? 8 : 4;
}

/* Adds a field to the layout. `sizes` receives the field's number of bytes. */
static bool put_field(jfr__layout *out, uint8_t sizes[JFR__SUM_SLOTS], const jfr__sum_shape *shape,
                      uint8_t slot, size_t at, size_t bytes)
{
    for (int i = 0; i < JFR__SUM_SLOTS; i++) {
        if (slot == JFR__SKIP || shape->slots[i] != slot)
            continue;
        if (bytes > most_bytes(i))
            return false;
        out->at[i] = (uint8_t)at;
        sizes[i] = (uint8_t)bytes;
    }
    return true;
}

/* Decides whether the layout is near, and if so, where the bytes of its fields are. */
static void define_picks(jfr__layout *out, const uint8_t sizes[JFR__SUM_SLOTS])
{
    size_t from = JFR__READ_AHEAD - sizeof(out->picks);
    for (int i = 0; i < JFR__NEAR; i++) {
        if (sizes[i] != 0 && out->at[i] < from)
            from = out->at[i];
    }
    memset(&out->picks, JFR__NO_BYTE, sizeof(out->picks));
    out->key = 0;
    out->from = (uint8_t)from;
    for (int i = 0; i < JFR__NEAR; i++) {
        size_t begin = out->at[i] - from;
        if (sizes[i] > 4 || (sizes[i] != 0 && begin + sizes[i] > sizeof(out->picks)))
            out->key = JFR__FAR;
        for (unsigned k = 0; k < sizes[i] && out->key == 0; k++)
            out->picks.bytes[i][k] = (uint8_t)(begin + k);
    }
}

bool jfr__sums_make_layout(jfr__layout *out, const jfr__sum_shape *shape, const uint8_t *p,
                           size_t head, size_t size)
{
    const jfr__plan *plan = &shape->plan->plan;
    size_t at = head;
    uint8_t sizes[JFR__SUM_SLOTS] = {0};
    *out = (jfr__layout){.key = JFR__FAR}; /* no layout, until everything fits */
    if (jfr__sources[shape->plan->source].rule == JFR__RULE_WEIGHTED)
        return false; /* the weight is not an integer */
    for (uint32_t i = 0; i < plan->count; i++) {
        const jfr__op *op = &plan->ops[i];
        bool varint = op->code == JFR__OP_VARINT;
        bool flag = op->code == JFR__OP_FIXED && op->n == 1;
        if (!varint && op->code != JFR__OP_FIXED)
            return false;
        if (op->slot != JFR__SKIP && !varint && (!flag || at >= size || p[at] >= 0x80))
            return false;
        size_t begin = at;
        for (uint32_t n = 0; varint && n < op->n; n++) {
            size_t bytes = varint_bytes(p + at, size - at);
            if (bytes == 0)
                return false;
            at += bytes;
        }
        if (!varint) {
            if (op->n > size - at)
                return false;
            at += op->n;
        }
        if (!put_field(out, sizes, shape, op->slot, begin, at - begin))
            return false;
    }
    define_picks(out, sizes);
    return true;
}

/* ---- events ---- */

static bool add_to_row(jfr__tally *sums, const jfr__lane *lane, uint32_t stack,
                       jfr__amounts amounts)
{
    uint32_t number = jfr__sums_find_lane(sums, lane);
    jfr__row *row = number != JFR_NONE ? jfr__sums_row(sums, (uint64_t)number << 32 | stack) : NULL;
    if (row == NULL)
        return false;
    jfr__row_add(row, 1, amounts);
    return true;
}

/* Returns the second of a time, as in jfr_sums_row.stack. */
static uint32_t second_of(const jfr__tally *sums, uint64_t ticks)
{
    int64_t time_ns = jfr__time_ns(&sums->chunk->info, ticks);
    int64_t after;
    if (time_ns < sums->origin_ns)
        return JFR_NONE;
    if (__builtin_sub_overflow(time_ns, sums->origin_ns, &after))
        return sums->seconds;
    uint64_t second = (uint64_t)after / UINT64_C(1000000000);
    return second < sums->seconds ? (uint32_t)second : sums->seconds;
}

/* Adds to the row of the stack and, if seconds are wanted, to the row of the second. */
static bool add_both(jfr__tally *sums, const jfr__sum_shape *shape, jfr__lane lane, uint32_t stack,
                     uint64_t ticks, jfr__amounts amounts)
{
    if (!add_to_row(sums, &lane, stack, amounts))
        return false;
    if (sums->seconds == 0)
        return true;
    lane.split |= JFR__LANE_SECONDS;
    lane.failed = 0;
    lane.klass = shape->judged ? lane.klass : 0;
    return add_to_row(sums, &lane, second_of(sums, ticks), amounts);
}

/* Adds the estimated number of waits that this wait counts for. */
static bool add_waits(jfr__tally *sums, const jfr__sum_shape *shape, jfr__lane lane, uint32_t stack,
                      uint64_t ticks, uint64_t ns)
{
    uint64_t waits = ns < shape->floor ? jfr__ratio(shape->floor, ns) : 1;
    lane.split = JFR__LANE_WAITS;
    return add_both(sums, shape, lane, stack, ticks, (jfr__amounts){waits, 0});
}

bool jfr__sums_add(jfr__tally *sums, const jfr__sum_shape *shape, const jfr__lane *lane,
                   const uint64_t fields[JFR__SUM_SLOTS])
{
    const jfr_chunk_info *info = &sums->chunk->info;
    uint64_t first = fields[JFR__SUM_FIRST];
    uint64_t id = fields[JFR__SUM_STACK];
    uint64_t ticks = fields[JFR__SUM_TIME];
    uint32_t stack = id < JFR_NONE ? (uint32_t)id : JFR_NONE;
    if (shape->recipe == JFR__COUNT_ONLY) {
        sums->skipped[shape->plan->source][shape->skip]++;
        return true;
    }
    if (shape->recipe == JFR__ADD_PERIOD)
        first = jfr__in_ns(info, shape->plan->period_unit, first);
    if (shape->recipe == JFR__ADD_SPAN || shape->recipe == JFR__ADD_WAIT)
        first = jfr__in_ns(info, shape->plan->duration_unit, first);
    if (shape->recipe == JFR__ADD_PERIOD && first == 0) {
        sums->skipped[shape->plan->source][JFR__UNMEASURED]++;
        return true;
    }
    if (shape->recipe == JFR__ADD_WAIT && !add_waits(sums, shape, *lane, stack, ticks, first))
        return false;
    return add_both(sums, shape, *lane, stack, ticks,
                    jfr__amounts_of(shape->recipe, shape->floor, first, fields[JFR__SUM_SECOND]));
}

const jfr__near_lane *jfr__sums_near(jfr__tally *sums, jfr__sum_shape *shape, uint64_t thread)
{
    jfr__lane lane = {.thread = thread, .shape = (uint8_t)(shape - sums->shapes)};
    uint32_t number = jfr__sums_find_lane(sums, &lane);
    if (number == JFR_NONE)
        return NULL;
    jfr__near_lane *near = &shape->near[thread % JFR__LANES_NEAR];
    *near = (jfr__near_lane){thread, (uint64_t)number << 32};
    return near;
}

/* Puts the weighted size into the field that the shape's recipe adds. */
static void weigh(const jfr__sum_shape *shape, uint64_t fields[JFR__SUM_SLOTS])
{
    uint64_t value = jfr__weighted(shape->plan, fields[JFR__SUM_FIRST], fields[JFR__SUM_SECOND]);
    fields[shape->recipe == JFR__ADD_TLAB ? JFR__SUM_SECOND : JFR__SUM_FIRST] = value;
}

const uint8_t *jfr__sums_slow(jfr__tally *sums, const uint8_t *p)
{
    const jfr_chunk *chunk = sums->chunk;
    uint64_t offset = (uint64_t)(p - chunk->file->data);
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, chunk->end);
    jfr__event_head head;
    if (!jfr__event_next(&c, &head))
        return NULL;
    sums->events++;
    c.end = c.base + head.end;
    uint32_t index = jfr__idmap_find(&chunk->plan_by_type, head.type);
    if (index == JFR_NONE)
        return c.end;
    const jfr__sum_shape *shape = shape_at(sums, index);
    uint64_t slots[JFR__EVENT_SLOTS] = {0};
    const uint8_t *next = c.end;
    sums->stats.slow_events++;
    jfr__plan_run(&shape->plan->plan, &c, slots);
    if (c.failed) {
        sums->bad_events++;
        return next;
    }
    uint64_t fields[JFR__SUM_SLOTS];
    for (int i = 0; i < JFR__SUM_SLOTS; i++)
        fields[i] = shape->slots[i] != JFR__SKIP ? slots[shape->slots[i]] : 0;
    if (jfr__sources[shape->plan->source].rule == JFR__RULE_WEIGHTED)
        weigh(shape, fields);
    jfr__lane lane = jfr__sums_lane(sums, shape, fields);
    (void)jfr__sums_add(sums, shape, &lane, fields);
    return next;
}

/* Returns where the loop must stop: before `to`, and early enough not to read beyond the chunk's
 * bytes. */
static const uint8_t *loop_stop(const jfr_chunk *chunk, uint64_t to)
{
    if (!chunk->info.compressed || chunk->end < JFR__READ_AHEAD)
        return NULL;
    uint64_t last = chunk->end - JFR__READ_AHEAD;
    return chunk->file->data + (to < last ? to : last);
}

/* Walked pages of a mapped file are released in stretches of this size. */
enum { STRETCH = 4 << 20 };

/* Returns the end of the pages that may be released. Constant pools are read again later, so the
 * pages of the JDK's pools (between the events) and of async-profiler's pools (after them) are kept
 * until the chunk ends. */
static uint64_t last_given(const jfr__tally *sums, uint64_t to)
{
    const jfr_chunk *chunk = sums->chunk;
    uint64_t pools = chunk->info.offset + chunk->header.pool_offset;
    if (chunk->producer != JFR_PRODUCER_ASYNC_PROFILER)
        return sums->kept;
    return chunk->info.finished && pools < to ? pools : to;
}

void jfr__sums_leave(jfr__tally *sums)
{
    jfr__drop_pages(sums->chunk->file, sums->kept, last_given(sums, sums->reached));
    sums->kept = sums->reached;
}

void jfr__sums_walk(jfr__tally *sums, uint64_t from, uint64_t to)
{
    const jfr_chunk *chunk = sums->chunk;
    const uint8_t *data = chunk->file->data;
    uint64_t at = from;
    if (from != sums->reached) {
        jfr__sums_leave(sums);
        sums->kept = from;
    }
    while (sums->rc == 0 && at < to) {
        uint64_t next = to - at > STRETCH ? at + STRETCH : to;
        const uint8_t *stop = loop_stop(chunk, next);
        const uint8_t *p = data + at;
        if (stop != NULL && p < stop)
            p = sums->loop(sums, p, stop);
        at = (uint64_t)(p - data);
        if (sums->rc == 0 && at < next) {
            p = jfr__sums_slow(sums, p);
            sums->lost = p == NULL;
            if (p == NULL)
                break;
            at = (uint64_t)(p - data);
        }
        if (at - sums->kept >= STRETCH) {
            uint64_t given = last_given(sums, at);
            jfr__drop_pages(chunk->file, sums->kept, given);
            sums->kept = given > sums->kept ? given : sums->kept;
        }
    }
    sums->reached = at;
}

/* ---- parts ---- */

/* Limits of a guess: the number of events that must follow one another, the bytes searched for a
 * first event, and the events checked in total. */
enum { GUESS_EVENTS = 24, GUESS_BYTES = 1 << 12, GUESS_LOOKS = 1 << 13 };

/* Most events start within this time of their chunk. The check rejects small numbers, of which
 * pools are full, even if the clock starts with the JVM. */
#define GUESS_NS UINT64_C(100000000)

static bool in_time(const jfr_chunk_info *info, uint64_t ticks)
{
    uint64_t start = (uint64_t)info->start_ticks;
    if (ticks < start)
        return jfr__span_ns(info, start - ticks) <= GUESS_NS;
    return jfr__span_ns(info, ticks - start) <= (uint64_t)info->duration_ns + GUESS_NS;
}

/* Reads an event at the cursor, and returns whether its first field is a time within the chunk.
 * Checkpoints and metadata do not count as events, because their type ids are small numbers, which
 * are common. */
static bool is_event(const jfr_chunk *chunk, jfr__cursor *c)
{
    jfr__event_head head;
    if (!jfr__event_next(c, &head))
        return false;
    const jfr__type *type = jfr__metadata_type(&chunk->meta, head.type);
    if (type == NULL || !jfr__str_is(type->super_name, "jdk.jfr.Event"))
        return false;
    if (!in_time(&chunk->info, jfr__read_long(c)) || c->failed)
        return false;
    c->pos = c->base + head.end;
    return true;
}

/*
 * Returns whether many events seem to follow one another from `offset` on. Even if there is no
 * event at `offset`, a wrongly read one often ends at the start of an event, and then all later
 * events are right; *end, after them, is then right too.
 */
static bool looks_right(const jfr_chunk *chunk, uint64_t offset, uint32_t *looks, uint64_t *end)
{
    jfr__cursor c = jfr__chunk_cursor(chunk, offset, chunk->end);
    for (int i = 0; i < GUESS_EVENTS && jfr__cursor_left(&c) > 0; i++) {
        (*looks)++;
        if (!is_event(chunk, &c))
            return false;
    }
    *end = jfr__cursor_offset(&c);
    return true;
}

bool jfr__sums_guess(const jfr_chunk *chunk, uint64_t offset, uint64_t *out)
{
    uint64_t left = chunk->end - offset;
    uint64_t end = offset + (left < GUESS_BYTES ? left : GUESS_BYTES);
    uint32_t looks = 0;
    for (uint64_t at = offset; at < end && looks < GUESS_LOOKS; at++) {
        if (looks_right(chunk, at, &looks, out))
            return true;
    }
    return false;
}
