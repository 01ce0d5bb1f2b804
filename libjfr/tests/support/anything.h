/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_TESTS_ANYTHING_H
#define JFR_TESTS_ANYTHING_H

/* Helpers for the tests of generic values: a chunk with one test.Anything. */
#include "fixture.h"

/* Writes it with time 700 ticks and duration 250; `plain` as chunk_params.plain. */
static inline void write_anything(bool plain)
{
    params.plain = plain;
    w.rich = true;
    begin_chunk(&w, &params);
    put_anything(&w, 700, 250);
    put_standard_pools(&w);
    put_anything_pool(&w);
    end_chunk(&w, &params);
}

static inline jfr_event open_first_event(void)
{
    jfr_events *events;
    jfr_event event;
    open_first_chunk();
    ck_assert_int_eq(jfr_events_open(&events, chunk, NULL, &err), 0);
    ck_assert_int_eq(jfr_events_next(events, &event, &err), 1);
    jfr_events_close(events);
    return event;
}

static inline jfr_event open_anything(bool plain)
{
    write_anything(plain);
    return open_first_event();
}

#endif
