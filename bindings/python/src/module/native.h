/* SPDX-License-Identifier: Apache-2.0 */
/* Includes the C API of Python. Every file that uses it includes this header first. The build
 * defines Py_LIMITED_API. */
#ifndef HOTSTACK_NATIVE_H
#define HOTSTACK_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#endif
