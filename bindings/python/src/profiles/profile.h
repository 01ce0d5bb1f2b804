/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregate: an aggregated profile as a Python object. It never changes once it is made. */
#ifndef HOTSTACK_PROFILE_H
#define HOTSTACK_PROFILE_H

#include "gather.h"

int profile_types_add(PyObject *module);

/* Implements aggregate(inputs, **options): see _native.pyi. */
PyObject *profile_new(inputs *in, PyObject *arguments, PyObject *keywords);

/* Returns the aggregate of an Aggregate object; NULL with an exception set for another object. */
const gathered *profile_of(PyObject *object);

/* Returns the number of a profile type by its name; 0 with an exception set. */
unsigned profile_type_number(const char *name);

#endif
