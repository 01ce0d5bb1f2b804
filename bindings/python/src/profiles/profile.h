/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregate: a profile added up, as a Python object. It does not change once it is made. */
#ifndef HOTSTACK_PROFILE_H
#define HOTSTACK_PROFILE_H

#include "gather.h"

int profile_types_add(PyObject *module);

/* aggregate(inputs, **options): see _native.pyi. */
PyObject *profile_new(inputs *in, PyObject *arguments, PyObject *keywords);

/* The aggregate behind an Aggregate; NULL with an exception set for another object. */
const gathered *profile_of(PyObject *object);

/* The number of a profile type's name; 0 with an exception set. */
unsigned profile_type_number(const char *name);

#endif
