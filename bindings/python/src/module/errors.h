/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions. All functions need the GIL. */
#ifndef HOTSTACK_ERRORS_H
#define HOTSTACK_ERRORS_H

#include "native.h"

#include "failure.h"

/* Makes the exception classes and puts them into the module. 0 or -1 with an exception set. */
int errors_add(PyObject *module);

/* Sets the exception of a failure; returns NULL. */
PyObject *errors_raise(const failure *f);
/* Sets a UsageError; returns NULL. */
PyObject *errors_usage(const char *message);

#endif
