/* SPDX-License-Identifier: Apache-2.0 */
/* Flame trees and their comparisons as Python objects, and the files that are made of them. */
#ifndef HOTSTACK_TREES_H
#define HOTSTACK_TREES_H

#include "gather.h"

int tree_types_add(PyObject *module);

/* Implement Aggregate.tree and Aggregate.collapsed. */
PyObject *tree_new(PyObject *self, const gathered *g, PyObject *arguments);
PyObject *tree_collapsed(PyObject *self, const gathered *g, PyObject *arguments);

/* Functions of the module. */
PyObject *trees_json(PyObject *module, PyObject *arguments);
PyObject *trees_html(PyObject *module, PyObject *arguments);
PyObject *diff_new(PyObject *module, PyObject *arguments);
PyObject *diffs_html(PyObject *module, PyObject *arguments);

#endif
