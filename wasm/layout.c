/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets at which vectors.test.mjs writes and reads the fields of a frame, in a 32-bit address
 * space. */
#include <stackagg/frame.h>

#define AT(field, offset)                                                                          \
    _Static_assert(offsetof(sagg_frame, field) == (offset),                                        \
                   #field " has moved: see vectors.test.mjs")

AT(class_name, 0);
AT(method, 8);
AT(file, 16);
AT(line, 24);
AT(kind, 28);
_Static_assert(sizeof(sagg_frame) == 32, "a frame has grown: see vectors.test.mjs");
_Static_assert(sizeof(sagg_str) == 8, "a string has grown: see vectors.test.mjs");
