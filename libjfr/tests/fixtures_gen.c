/*
 * Writes the recordings of tests/data: odd but right ones (ok), unreadable ones (bad), and damaged
 * ones of which something is left (maybe). data/README.md says what each must come to.
 *
 * usage: jfr_fixtures DIR
 */
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADER = 68,
    SIZE_AT = 8,
    POOL_AT = 16,
    METADATA_AT = 24,
    FREQUENCY_AT = 56,
    STATE_AT = 64,
    FLAGS_AT = 67,
    STRINGS_AT = HEADER + 8 /* of compressed metadata: size 4 bytes, type, start, duration, id */
};

static writer w;
static chunk_params params;

static void begin(void)
{
    begin_chunk(&w, &params);
    put_setting(&w, T_EXECUTION, "period", "10 ms");
}

static void end(void)
{
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

static void simple(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    end();
}

static void patch(size_t at, const char *bytes, size_t len)
{
    memcpy(w.data + at, bytes, len);
}

/* ---- ok ---- */

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

/* ---- bad ---- */

static void nothing(void) {}

static void text(void)
{
    for (int i = 0; i < 4; i++)
        put_bytes(&w, "This is no recording, only words.\n", 34);
}

static void cut_header(void)
{
    simple();
    w.len = HEADER - 1;
}

static void magic(void)
{
    simple();
    patch(0, "FLAC", 4);
}

static void version_0(void)
{
    simple();
    patch(4, "\0\0\0\0", 4);
}

static void version_3(void)
{
    simple();
    patch(4, "\0\3\0\0", 4);
}

static void no_frequency(void)
{
    simple();
    patch(FREQUENCY_AT, "\0\0\0\0\0\0\0\0", 8);
}

static void damaged_gzip(void)
{
    put_bytes(&w, "\x1F\x8B\x08\0\0\0\0\0\0\xFF This is no deflate stream.", 37);
}

static void metadata_type(void)
{
    simple();
    patch(HEADER + 4, "\x09", 1);
}

static void metadata_size_zero(void)
{
    simple();
    patch(HEADER, "\x80\x80\x80\0", 4);
}

static void metadata_size_beyond(void)
{
    simple();
    patch(HEADER, "\xFF\xFF\xFF\x07", 4);
}

static void metadata_size_negative(void)
{
    simple();
    patch(HEADER, "\xFF\xFF\xFF\xFF", 4);
}

static void metadata_string_count(void)
{
    simple();
    patch(STRINGS_AT, "\xFF\x7F", 2);
}

static void metadata_string_encoding(void)
{
    simple();
    patch(STRINGS_AT + 2, "\x07", 1);
}

static void metadata_string_length(void)
{
    simple();
    patch(STRINGS_AT + 3, "\xFF", 1);
}

/* A chunk of a hand-made metadata event; `tree` is its element tree. */
static void metadata_of(const char *tree, size_t len)
{
    static const char *const strings[] = {"class", "name", "id", "7", "field", "t"};
    begin_chunk(&w, &params);
    w.len = HEADER;
    size_t at = w.len;
    put_be(&w, 0, 4);
    for (int i = 0; i < 4; i++)
        put_varint(&w, 0);
    put_varint(&w, 6);
    for (int i = 0; i < 6; i++)
        put_text(&w, strings[i]);
    put_bytes(&w, tree, len);
    end_event(&w, at);
    w.last_pool = at;
    end_chunk(&w, &params);
}

static void metadata_twice_one_id(void)
{
    metadata_of("\0\2\1\5\2\3\1\0\2\1\5\2\3\0", 14);
}

static void metadata_child_count(void)
{
    metadata_of("\0\2\1\5\2\3\xFF\x7F", 8);
}

static void metadata_attribute_index(void)
{
    metadata_of("\0\2\1\x09\2\3\0", 7);
}

static void metadata_field_first(void)
{
    metadata_of("\4\0\0", 3);
}

static void metadata_nested(void)
{
    char tree[120];
    for (size_t i = 0; i < sizeof(tree); i += 3)
        memcpy(tree + i, "\1\0\1", 3);
    metadata_of(tree, sizeof(tree));
}

static void open_without_metadata(void)
{
    params.open = true;
    begin_chunk(&w, &params);
    w.len = HEADER;
}

/* ---- maybe ---- */

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

/* Each checkpoint's delta leads to where no other is. */
static void put_lone_checkpoint(uint64_t delta)
{
    size_t checkpoint = w.len;
    put_be(&w, 0, 4);
    put_long(&w, 1);
    put_long(&w, 0);
    put_long(&w, 0);
    put_long(&w, delta);
    put_u8(&w, 0);
    put_int(&w, 0);
    end_event(&w, checkpoint);
    w.last_pool = checkpoint;
}

static void chain_forwards(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    put_lone_checkpoint(1000);
    end_chunk(&w, &params);
}

static void chain_to_nowhere(void)
{
    begin();
    put_execution(&w, 600, 70, 7, 1);
    put_standard_pools(&w);
    put_lone_checkpoint((uint64_t)-5);
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

static const struct {
    const char *name;
    void (*write)(void);
} fixtures[] = {
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
    {"bad/empty", nothing},
    {"bad/text", text},
    {"bad/cut-header", cut_header},
    {"bad/magic", magic},
    {"bad/version-0", version_0},
    {"bad/version-3", version_3},
    {"bad/no-frequency", no_frequency},
    {"bad/damaged-gzip", damaged_gzip},
    {"bad/metadata-type", metadata_type},
    {"bad/metadata-size-zero", metadata_size_zero},
    {"bad/metadata-size-beyond", metadata_size_beyond},
    {"bad/metadata-size-negative", metadata_size_negative},
    {"bad/metadata-string-count", metadata_string_count},
    {"bad/metadata-string-encoding", metadata_string_encoding},
    {"bad/metadata-string-length", metadata_string_length},
    {"bad/metadata-twice-one-id", metadata_twice_one_id},
    {"bad/metadata-child-count", metadata_child_count},
    {"bad/metadata-attribute-index", metadata_attribute_index},
    {"bad/metadata-field-first", metadata_field_first},
    {"bad/metadata-nested-40-deep", metadata_nested},
    {"bad/open-without-metadata", open_without_metadata},
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
};

static void save(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.jfr", dir, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || (w.len > 0 && fwrite(w.data, 1, w.len, out) != w.len) || fclose(out) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"", "/ok", "/bad", "/maybe"};
    char path[4096];
    if (argc != 2)
        return EXIT_FAILURE;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", argv[1], kinds[i]);
        (void)mkdir(path, 0777);
    }
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        params = (chunk_params)CHUNK_PARAMS_INIT;
        fixtures[i].write();
        save(argv[1], fixtures[i].name);
        writer_free(&w);
    }
    return EXIT_SUCCESS;
}
