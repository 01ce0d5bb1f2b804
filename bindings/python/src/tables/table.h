/* SPDX-License-Identifier: Apache-2.0 */
/* Batches, which wraps a producer for Python, and its Batch objects. */
#ifndef HOTSTACK_TABLE_H
#define HOTSTACK_TABLE_H

#include "module/native.h"

#include "producer.h"

/* 0 or -1 with an exception set. */
int table_types_add(PyObject *module);

/* Returns a Batches object that owns the producer. NULL with an exception set; the producer is
 * freed then. */
PyObject *batches_new(producer *p);

#endif
