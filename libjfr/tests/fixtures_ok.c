/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that are odd but right. */
#include "fixtures.h"

#include <stddef.h>

static void plain(void)
{
    params.plain = true;
    simple();
    simple();
}

static void empty_chunk(void)
{
    begin_chunk(&w, &params);
    end();
    simple();
}

static void two_clocks(void)
{
    for (int i = 0; i < 2; i++) {
        params.ticks_per_second = i ? 2500000000 : 1000000000;
        params.base = i ? 300 : 20;
        begin_chunk(&w, &params);
        put_monitor_enter(&w, 600, 1000000, 4);
        end();
    }
}

static void version_1_0(void)
{
    simple();
    patch(4, "\0\1\0\0", 4);
}

static void version_2_1_last(void)
{
    simple();
    patch(4, "\0\2\0\1", 4);
    patch(FLAGS_AT, "\3", 1);
}

static void padded(void)
{
    static const unsigned widths[] = {1, 2, 3, 4, 5, 8};
    begin();
    for (int i = 0; i < 6; i++) {
        put_padded(&w, widths[i] + 9, widths[i]);
        put_padded(&w, w.base + T_EXECUTION, 2);
        put_padded(&w, 600, 3);
        put_varint(&w, 70);
        put_padded(&w, 7, 2);
        put_varint(&w, 1);
    }
    end();
}

static void nine_byte_integers(void)
{
    begin();
    put_execution(&w, UINT64_MAX, 70, 7, 1);
    put_execution(&w, UINT64_C(1) << 63, 70, 7, UINT64_MAX);
    end();
}

static void extra_fields(void)
{
    begin();
    size_t event = begin_event(&w, T_EXECUTION);
    for (int i = 0; i < 30; i++)
        put_long(&w, 7);
    end_event(&w, event);
    end();
}

static void unknown_event(void)
{
    begin();
    size_t event = begin_event(&w, T_COUNT);
    put_bytes(&w, "\xFF\xFF\xFF", 3);
    end_event(&w, event);
    put_execution(&w, 600, 70, 7, 1);
    end();
}

static void put_thread_named(const void *name, size_t len)
{
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_THREAD, 1);
    put_long(&w, 90);
    put_bytes(&w, name, len);
    put_long(&w, 1);
    put_bytes(&w, name, len);
    put_long(&w, 1);
    put_long(&w, 0);
    put_u8(&w, 0);
    end_checkpoint(&w, checkpoint);
}

/* Each encoding of a string, as the name of the sample's thread, a chunk each. */
static void encodings(void)
{
    static const struct {
        const char *bytes;
        size_t len;
    } names[] = {
        {"\0", 1},           {"\1", 1},
        {"\2\x63", 2},       {"\3\6\xED\xA0\xBD\xED\xB8\x80", 8},
        {"\3\2\xC0\x80", 4}, {"\4\2\xBD\xB0\x03\x80\xBC\x03", 8},
        {"\5\2a\xE4", 4},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        begin();
        put_execution(&w, 600, 90, 7, 1);
        put_thread_named(names[i].bytes, names[i].len);
        end();
    }
}

const fixture ok_fixtures[] = {
    {"ok/plain-integers", plain},
    {"ok/empty-chunk", empty_chunk},
    {"ok/two-clocks", two_clocks},
    {"ok/version-1.0", version_1_0},
    {"ok/version-2.1-last-chunk", version_2_1_last},
    {"ok/padded-integers", padded},
    {"ok/nine-byte-integers", nine_byte_integers},
    {"ok/extra-fields", extra_fields},
    {"ok/unknown-event", unknown_event},
    {"ok/string-encodings", encodings},
    {NULL, NULL},
};
