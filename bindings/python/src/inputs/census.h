/* SPDX-License-Identifier: Apache-2.0 */
/* What inputs say about themselves, found in one pass over all chunks. */
#ifndef HOTSTACK_CENSUS_H
#define HOTSTACK_CENSUS_H

#include "inputs.h"

/*
 * A dict: "chunks", "types", "settings", "recording", "loss" (see _native.pyi). With `events`,
 * events are counted too, and losses among them are found. `progress` is a callable of (done,
 * total), or NULL. Takes turns with other threads while C works. NULL with an exception set.
 */
PyObject *census_of(inputs *in, bool events, PyObject *progress);

/* Calls it, if it is one, and looks for signals. False with an exception set. */
bool progress_call(PyObject *progress, uint64_t done, uint64_t total);

#endif
