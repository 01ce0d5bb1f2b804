/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_TEXT_H
#define JFR_SRC_TEXT_H

#include "memory_impl.h"
#include "read/cursor_impl.h"

#include <jfr/error.h>
#include <jfr/string.h>

/*
 * A string of a recording begins with a byte that states its encoding (JDK
 * jdk.jfr.internal.consumer.StringParser).
 */
enum jfr__encoding {
    JFR__NULL = 0,
    JFR__EMPTY = 1,
    JFR__POOL = 2,  /* a long: key in the pool of java.lang.String */
    JFR__UTF8 = 3,  /* int length in bytes, bytes; async-profiler: modified UTF-8 */
    JFR__UTF16 = 4, /* int length in chars, each a char */
    JFR__LATIN1 = 5 /* int length, bytes */
};

void jfr__skip_string(jfr__cursor *c);

/*
 * Decodes the string at the cursor.
 *   arena     receives converted text; other text is borrowed from the recording
 *   pool_key  receives the key of a JFR__POOL string, whose text is in the pool; `out` is then null
 * Returns the encoding, or JFR_ERR_FORMAT, JFR_ERR_LIMIT, JFR_ERR_NOMEM.
 */
int jfr__read_string(jfr__cursor *c, jfr__arena *arena, uint64_t max_bytes, jfr_str *out,
                     uint64_t *pool_key, jfr_error *err);

#endif
