/* SPDX-License-Identifier: Apache-2.0 */
/* A batch as Python objects: for who has no Arrow library. */
#ifndef HOTSTACK_ROWS_H
#define HOTSTACK_ROWS_H

#include "native.h"

#include "arrow.h"

/* A list with a dict for each row. NULL with an exception set. */
PyObject *rows_of(const struct ArrowSchema *schema, const struct ArrowArray *array);

#endif
