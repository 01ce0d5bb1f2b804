/* SPDX-License-Identifier: Apache-2.0 */
/* A batch as Python objects: for who has no Arrow library. */
#ifndef HOTSTACK_ROWS_H
#define HOTSTACK_ROWS_H

#include "module/native.h"

#include "arrow.h"

/* The strings of a text column's dictionary, which begin at `offsets`, int32: a list of str. NULL
 * with an exception set. */
PyObject *words_of(const void *offsets, const void *text, int64_t count);

/* A list with a dict for each row. NULL with an exception set. */
PyObject *rows_of(const struct ArrowSchema *schema, const struct ArrowArray *array);

#endif
