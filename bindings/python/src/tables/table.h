/* SPDX-License-Identifier: Apache-2.0 */
/* Python's view of a producer: Batches, and the Batch objects that it gives. */
#ifndef HOTSTACK_TABLE_H
#define HOTSTACK_TABLE_H

#include "module/native.h"

#include "producer.h"

/* 0 or -1 with an exception set. */
int table_types_add(PyObject *module);

/* A Batches object that owns the producer. NULL with an exception set, then the producer is freed.
 */
PyObject *batches_new(producer *p);

#endif
