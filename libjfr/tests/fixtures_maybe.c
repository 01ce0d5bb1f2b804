/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged recordings of which something is left. */
#include "fixtures.h"

#include <stddef.h>

static void cut_second(void)
{
    simple();
    simple();
    w.len -= 10;
}

static void cut_second_header(void)
{
    simple();
    size_t second = w.len;
    simple();
    w.len = second + 20;
}

static void open_second(void)
{
    simple();
    params.open = true;
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_execution(&w, 700, 70, 7, 1);
}

static void open_torn(void)
{
    open_second();
    w.len -= 2;
}

static void open_middle(void)
{
    open_second();
    params.open = false;
    simple();
}

/* A JDK that still writes: state 5, the size of the last flush, events behind it. */
static void live_jdk(void)
{
    simple();
    patch(STATE_AT, "\5", 1);
    put_execution(&w, 800, 70, 7, 1);
}

static void garbage_between(void)
{
    simple();
    put_bytes(&w, "#### not a chunk, but FLR ####", 30);
    simple();
}

static void garbage_behind(void)
{
    simple();
    for (int i = 0; i < 10; i++)
        put_bytes(&w, "#### FLR ####", 13);
}

static void size_too_small(void)
{
    simple();
    size_t second = w.len;
    simple();
    patch(second + SIZE_AT, "\0\0\0\0\0\0\0\x10", 8);
    simple();
}

static void size_beyond_file(void)
{
    simple();
    patch(SIZE_AT, "\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    simple();
}

static void metadata_offset_elsewhere(void)
{
    simple();
    size_t second = w.len;
    simple();
    patch(second + METADATA_AT, "\0\0\0\0\0\0\0\x60", 8);
}

static void event_size_zero(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_be(&w, 0, 4);
    put_execution(&w, 600, 70, 7, 1);
    end();
    simple();
}

static void event_smaller_than_its_head(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_padded(&w, 4, 4);
    put_varint(&w, w.base + T_EXECUTION);
    end();
}

static void event_beyond_chunk(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_padded(&w, 0x1FFFFF, 4);
    put_varint(&w, w.base + T_EXECUTION);
    end();
    simple();
}

static void event_without_fields(void)
{
    begin();
    size_t event = begin_event(&w, T_EXECUTION);
    put_long(&w, 600);
    end_event(&w, event);
    put_execution(&w, 600, 70, 7, 1);
    end();
}

static void pool_of_undefined_type(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_COUNT, 1);
    put_long(&w, 1);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
}

static void pool_entry_beyond_checkpoint(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_SYMBOL, 3);
    put_long(&w, 500);
    put_u8(&w, 3);
    put_int(&w, 100);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
}

static void pool_count_beyond_checkpoint(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_SYMBOL, 100000);
    end_checkpoint(&w, checkpoint);
    end_chunk(&w, &params);
}

static void pool_offset_elsewhere(void)
{
    simple();
    size_t second = w.len;
    simple();
    patch(second + POOL_AT, "\0\0\0\0\0\0\0\x60", 8);
}

static void chain_forwards(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    put_empty_checkpoint(&w, 1000);
    end_chunk(&w, &params);
}

static void chain_to_nowhere(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    put_empty_checkpoint(&w, (uint64_t)-5);
    end_chunk(&w, &params);
}

static void stack_of_missing_parts(void)
{
    begin();
    put_execution(&w, 600, 99, 99, 99);
    put_execution(&w, 600, 70, 9, 200);
    size_t checkpoint = begin_checkpoint(&w);
    begin_pool(&w, T_STACK, 1);
    put_long(&w, 99);
    put_u8(&w, 0);
    put_int(&w, 1);
    put_long(&w, 12345); /* no such method */
    put_int(&w, 1);
    put_int(&w, 0);
    put_long(&w, 12345); /* no such frame type */
    end_checkpoint(&w, checkpoint);
    end();
}

const fixture maybe_fixtures[] = {
    {"maybe/cut-second", cut_second},
    {"maybe/cut-second-header", cut_second_header},
    {"maybe/open-second", open_second},
    {"maybe/open-torn", open_torn},
    {"maybe/open-middle", open_middle},
    {"maybe/live-jdk", live_jdk},
    {"maybe/garbage-between", garbage_between},
    {"maybe/garbage-behind", garbage_behind},
    {"maybe/size-too-small", size_too_small},
    {"maybe/size-beyond-file", size_beyond_file},
    {"maybe/metadata-offset-elsewhere", metadata_offset_elsewhere},
    {"maybe/event-size-zero", event_size_zero},
    {"maybe/event-smaller-than-its-head", event_smaller_than_its_head},
    {"maybe/event-beyond-chunk", event_beyond_chunk},
    {"maybe/event-without-fields", event_without_fields},
    {"maybe/pool-of-undefined-type", pool_of_undefined_type},
    {"maybe/pool-entry-beyond-checkpoint", pool_entry_beyond_checkpoint},
    {"maybe/pool-count-beyond-checkpoint", pool_count_beyond_checkpoint},
    {"maybe/pool-offset-elsewhere", pool_offset_elsewhere},
    {"maybe/chain-forwards", chain_forwards},
    {"maybe/chain-to-nowhere", chain_to_nowhere},
    {"maybe/stack-of-missing-parts", stack_of_missing_parts},
    {NULL, NULL},
};
