/* SPDX-License-Identifier: Apache-2.0 */
/* Makes small Python objects. All functions need the GIL and return NULL with an exception set. */
#ifndef HOTSTACK_OBJECTS_H
#define HOTSTACK_OBJECTS_H

#include "native.h"

#include <jfr/jfr.h>
#include <stackagg/stackagg.h>

/* Returns a str; None for a null string. */
PyObject *text_of(const char *data, size_t size);
static inline PyObject *text_of_jfr(jfr_str s)
{
    return text_of(s.data, s.len);
}
/* Returns a str, also for a null string. */
PyObject *text_of_sagg(sagg_str s);

/*
 * Appends the item and releases it. Returns false with an exception set, also when `item` is NULL.
 */
bool list_take(PyObject *list, PyObject *item);
/* As list_take, for a dict. */
bool dict_take(PyObject *dict, const char *key, PyObject *item);

/* Returns (class, method, kind, line) of a frame. */
PyObject *frame_of(const sagg_frame *frame);

#endif
