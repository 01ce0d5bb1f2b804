/* SPDX-License-Identifier: Apache-2.0 */
/* Returns a table's columns as memory that Python owns and may write; numpy takes it without a
 * copy. */
#ifndef HOTSTACK_MEMORY_H
#define HOTSTACK_MEMORY_H

#include "module/native.h"

#include "arrow.h"

/* 0 or -1 with an exception set. */
int memory_type_make(void);

/*
 * Moves the rows of a table, whose text columns are packed, into a list of (values, validity,
 * words), one for each column. Values is a memoryview of bytes; for text it has the codes of
 * column_pack. Validity is another, with a bit for each row, least significant first, or None where
 * no row is null, and for text. Words is the list of strings for text, else None. NULL with an
 * exception set.
 */
PyObject *memory_columns(table *t);

#endif
