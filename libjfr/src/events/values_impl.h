/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_VALUES_H
#define JFR_SRC_VALUES_H

#include "read/reader_impl.h"

/* Convert ticks of a chunk's clock to UTC nanoseconds, and to a span of nanoseconds. */
int64_t jfr__time_ns(const jfr_chunk_info *info, uint64_t ticks);
uint64_t jfr__span_ns(const jfr_chunk_info *info, uint64_t ticks);
int64_t jfr__ticks_to_ns(const jfr_chunk_info *info, int64_t ticks); /* negative spans too */
/* Converts a time span in that unit to ns. */
uint64_t jfr__in_ns(const jfr_chunk_info *info, jfr__unit unit, uint64_t value);

/* Multiplies a size by the weight in JFR__SLOT_WEIGHT, which the metadata defines as an integer or
 * a floating-point number; 0 if the weight is NaN or negative. */
uint64_t jfr__weighted(const jfr__event_plan *plan, uint64_t size, uint64_t weight);

/* Returns a / b, rounded, at least 1. */
uint64_t jfr__ratio(uint64_t a, uint64_t b);

/*
 * Fills the values of a sample by the rules of jfr/sample.h. Returns false when it cannot: the
 * interval is not known, or the main event counts no time.
 */
bool jfr__values_fill(const jfr_chunk *chunk, const jfr__event_plan *plan, const uint64_t *slots,
                      jfr_sample *out);

#endif
