/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the metadata of inputs in one pass over all chunks. */
#ifndef HOTSTACK_CENSUS_H
#define HOTSTACK_CENSUS_H

#include "inputs.h"

/*
 * Returns a dict: "chunks", "types", "settings", "recording", "loss" (see _native.pyi). With
 * `events`, it also counts events and finds the losses among them. `progress` is a callable of
 * (done, total), or NULL. Other threads of Python run while C works. NULL with an exception set.
 */
PyObject *census_of(inputs *in, bool events, PyObject *progress);

/* Calls `progress` unless it is NULL or None, and looks for signals. Returns false with an
 * exception set. */
bool progress_call(PyObject *progress, uint64_t done, uint64_t total);

#endif
