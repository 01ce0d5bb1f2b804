/* SPDX-License-Identifier: Apache-2.0 */
#include "events/values_impl.h"

#include "events/source_impl.h"

#include <string.h>

/*
 * The JDK converts ticks in double precision (jdk.jfr.internal.consumer.TimeConverter); the same
 * arithmetic here makes totals agree with its API to the nanosecond.
 */
int64_t jfr__ticks_to_ns(const jfr_chunk_info *info, int64_t ticks)
{
    double ns = (double)ticks / ((double)info->ticks_per_second / 1e9);
    if (ns >= 9.2e18 || ns <= -9.2e18)
        return ns > 0 ? INT64_MAX : INT64_MIN;
    return (int64_t)ns;
}

int64_t jfr__time_ns(const jfr_chunk_info *info, uint64_t ticks)
{
    int64_t span = jfr__ticks_to_ns(info, (int64_t)(ticks - info->start_ticks));
    return (int64_t)((uint64_t)info->start_ns + (uint64_t)span);
}

uint64_t jfr__span_ns(const jfr_chunk_info *info, uint64_t ticks)
{
    int64_t span = jfr__ticks_to_ns(info, (int64_t)ticks);
    return span > 0 ? (uint64_t)span : 0;
}

uint64_t jfr__in_ns(const jfr_chunk_info *info, jfr__unit unit, uint64_t value)
{
    if (unit == JFR__UNIT_NANOS)
        return value;
    if (unit == JFR__UNIT_MILLIS)
        return value <= UINT64_MAX / 1000000 ? value * 1000000 : UINT64_MAX;
    return jfr__span_ns(info, value);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t jfr__ratio(uint64_t a, uint64_t b)
{
    if (b == 0)
        return 1;
    uint64_t quotient = a / b + (a % b >= b - a % b);
    return max_u64(quotient, 1);
}

static double weight_of(const jfr__event_plan *plan, uint64_t bits)
{
    float single;
    double number;
    if (plan->weight_shape == JFR__FLOAT) {
        uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, sizeof(single));
        return (double)single;
    }
    memcpy(&number, &bits, sizeof(number));
    return plan->weight_shape == JFR__DOUBLE ? number : (double)bits;
}

uint64_t jfr__weighted(const jfr__event_plan *plan, uint64_t size, uint64_t weight)
{
    double value = (double)size * weight_of(plan, weight);
    if (!(value > 0)) /* also excludes NaN */
        return 0;
    return value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

static void add(jfr_sample *s, jfr_profile_type type, uint64_t raw, uint64_t value)
{
    s->values[s->value_count++] = (jfr_value){type, raw, value};
}

static bool add_interval(jfr_sample *s, jfr_profile_type type, uint64_t samples, uint64_t interval)
{
    uint64_t value;
    if (interval == 0)
        return false;
    if (__builtin_mul_overflow(samples, interval, &value))
        value = UINT64_MAX;
    add(s, type, value, value);
    return true;
}

static bool add_execution(const jfr_chunk *chunk, jfr_sample *s)
{
    const jfr_intervals *in = &chunk->intervals;
    if (chunk->producer == JFR_PRODUCER_ASYNC_PROFILER) {
        bool wall_state = in->wall_ns != 0 && s->state != JFR_STATE_UNKNOWN;
        if (in->main_event == JFR_MAIN_WALL || wall_state)
            return add_interval(s, JFR_WALL, 1, in->wall_ns);
    }
    if (in->main_event == JFR_MAIN_COUNTER)
        return add_interval(s, JFR_EVENTS, 1, in->events);
    return add_interval(s, JFR_CPU, 1, in->cpu_ns);
}

static void add_lock(jfr_sample *s, uint64_t duration, uint64_t interval)
{
    add(s, JFR_LOCK_COUNT, 1, duration < interval ? jfr__ratio(interval, duration) : 1);
    add(s, JFR_LOCK_DELAY, duration, max_u64(duration, interval));
}

bool jfr__values_fill(const jfr_chunk *chunk, const jfr__event_plan *plan, const uint64_t *slots,
                      jfr_sample *out)
{
    const jfr__source *source = &jfr__sources[plan->source];
    const jfr_profile_type type = (jfr_profile_type)source->type;
    uint64_t interval = jfr__source_interval(chunk, plan->source);
    uint64_t amount = source->amount != JFR__SKIP ? slots[source->amount] : 1;
    switch ((jfr__rule)source->rule) {
    case JFR__RULE_MAIN_TIME:
        return add_execution(chunk, out);
    case JFR__RULE_TIME:
        return add_interval(out, type, amount, interval);
    case JFR__RULE_PERIOD:
        return add_interval(out, type, 1, jfr__in_ns(&chunk->info, plan->period_unit, amount));
    case JFR__RULE_TLAB:
        add(out, type, amount, amount);
        add(out, JFR_ALLOC_OBJECTS, 1, jfr__ratio(amount, slots[JFR__SLOT_SIZE]));
        break;
    case JFR__RULE_OBJECT:
        add(out, type, amount, amount);
        add(out, JFR_ALLOC_OBJECTS, 1, 1);
        break;
    case JFR__RULE_AMOUNT:
        add(out, type, amount, amount);
        break;
    case JFR__RULE_FLOOR:
        add(out, type, amount, max_u64(amount, interval));
        break;
    case JFR__RULE_WEIGHTED:
        amount = jfr__weighted(plan, amount, slots[JFR__SLOT_WEIGHT]);
        add(out, type, amount, amount);
        if (type == JFR_ALLOC_BYTES)
            add(out, JFR_ALLOC_OBJECTS, 1, jfr__ratio(amount, slots[JFR__SLOT_SIZE]));
        break;
    case JFR__RULE_SPAN:
        amount = jfr__in_ns(&chunk->info, plan->duration_unit, amount);
        add(out, JFR_TRACE_COUNT, 1, 1);
        add(out, JFR_TRACE_TIME, amount, amount);
        break;
    case JFR__RULE_WAIT:
        add_lock(out, jfr__in_ns(&chunk->info, plan->duration_unit, amount), interval);
        break;
    }
    return true;
}
