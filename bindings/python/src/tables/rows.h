/* SPDX-License-Identifier: Apache-2.0 */
/* Returns a batch as Python objects, for users without an Arrow library. */
#ifndef HOTSTACK_ROWS_H
#define HOTSTACK_ROWS_H

#include "module/native.h"

#include "arrow.h"

/* Returns the strings of a text column's dictionary, which begin at `offsets` (int32), as a list of
 * str. NULL with an exception set. */
PyObject *words_of(const void *offsets, const void *text, int64_t count);

/* Returns a list with a dict for each row. NULL with an exception set. */
PyObject *rows_of(const struct ArrowSchema *schema, const struct ArrowArray *array);

#endif
