/* SPDX-License-Identifier: Apache-2.0 */
/* ClickHouse type names, parsed. */
#ifndef CHSINK_SRC_TYPE_H
#define CHSINK_SRC_TYPE_H

#include <chsink/bytes.h>

#include "chsink_impl.h"

/* The family of a type's values. It decides the append function and the reader's array. */
typedef enum chs__family { CHS__UINTS, CHS__INTS, CHS__FLOATS, CHS__STRINGS } chs__family;

/* The layout of values in the stream. */
typedef enum chs__layout {
    CHS__FIXED_WIDTH, /* width bytes each, little-endian; raw bytes for FixedString */
    CHS__STRING,      /* varint length, bytes */
    CHS__DICTIONARY   /* LowCardinality(String) */
} chs__layout;

typedef struct chs__enum_value {
    char *name;
    size_t length;
    int8_t value;
} chs__enum_value;

typedef struct chs__type {
    char *text; /* as given, owned */
    chs__family family;
    chs__layout layout;
    bool is_array;
    bool is_bool;
    uint32_t width;          /* of CHS__FIXED_WIDTH */
    chs__enum_value *values; /* of Enum8, else NULL */
    size_t value_count;
} chs__type;

enum { CHS__MAX_FIXED_STRING = 1 << 20, CHS__MAX_TYPE_TEXT = 1 << 16 };

/*
 * Parses text. out is zeroed first and owns memory afterwards, on failure too: free with
 * chs__type_free. Returns 0, CHS_ERR_USAGE (not a type of this library's list; err not filled) or
 * CHS_ERR_NO_MEMORY.
 */
int chs__type_parse(chs__type *out, const char *text, size_t length);

void chs__type_free(chs__type *type);

/* Returns "unsigned", "signed", "floating" or "string". */
const char *chs__family_name(chs__family family);

#endif
