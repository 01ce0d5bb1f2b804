/* SPDX-License-Identifier: Apache-2.0 */
/* A table's columns as memory that Python owns and may write: what numpy takes without a copy. */
#ifndef HOTSTACK_MEMORY_H
#define HOTSTACK_MEMORY_H

#include "module/native.h"

#include "arrow.h"

/* 0 or -1 with an exception set. */
int memory_type_make(void);

/*
 * Moves a table's rows, whose text columns are packed, into a list of (values, validity, words), a
 * column each. Values are a memoryview of bytes; of text the codes as column_pack has them.
 * Validity is another, with a bit a row, least significant first, or None where no row is null, as
 * for text. Words is the list of strings of text, else None. NULL with an exception set.
 */
PyObject *memory_columns(table *t);

#endif
