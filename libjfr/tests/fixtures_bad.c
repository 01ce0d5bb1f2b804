/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that cannot be read. */
#include "fixtures.h"

#include <stddef.h>
#include <string.h>

/* Of compressed metadata: behind its size of 4 bytes, type, start, duration, id. */
enum { STRINGS_AT = HEADER + 8 };

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

const fixture bad_fixtures[] = {
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
    {NULL, NULL},
};
