/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "rows.h"

static PyTypeObject *memory_type;

/* ---- Memory ---- */

typedef struct memory {
    PyObject_HEAD void *data;
    Py_ssize_t size;
} memory;

static void memory_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free(((memory *)self)->data);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

static int memory_buffer(PyObject *self, Py_buffer *view, int flags)
{
    const memory *m = (memory *)self;
    return PyBuffer_FillInfo(view, self, m->data, m->size, 0, flags);
}

static PyType_Slot memory_slots[] = {
    {Py_tp_dealloc, (void *)memory_dealloc},
    {Py_bf_getbuffer, (void *)memory_buffer},
    {Py_tp_doc, (void *)"Bytes that may be written: what the views of Batch.columns look at."},
    {0, NULL},
};

static PyType_Spec memory_spec = {
    .name = "hotstack._native.Memory",
    .basicsize = sizeof(memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};

int memory_type_make(void)
{
    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    return memory_type != NULL ? 0 : -1;
}

/* Returns a view of the first `size` bytes of `data`, takes over the memory, and frees the rest of
 * it. */
static PyObject *new_view(void *data, size_t size)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(memory_type, Py_tp_alloc);
    memory *m = (memory *)alloc(memory_type, 0);
    if (m == NULL) {
        free(data);
        return NULL;
    }
    void *less = realloc(data, size > 0 ? size : 1);
    m->data = less != NULL ? less : data;
    m->size = (Py_ssize_t)size;
    PyObject *view = PyMemoryView_FromObject((PyObject *)m);
    Py_DECREF((PyObject *)m);
    return view;
}

/* ---- columns ---- */

/* Returns a view of the buffer's memory and gives up its ownership. */
static PyObject *view_of(bytes *b, size_t size)
{
    void *data = b->data;
    *b = (bytes){0};
    return new_view(data, size);
}

static PyObject *text_column(column *c)
{
    PyObject *words = words_of(c->offsets.data, c->text.data, c->words);
    if (words == NULL)
        return NULL;
    PyObject *values = view_of(&c->packed, c->packed.size);
    PyObject *made = values != NULL ? PyTuple_Pack(3, values, Py_None, words) : NULL;
    Py_XDECREF(values);
    Py_DECREF(words);
    return made;
}

static PyObject *plain_column(column *c)
{
    bool has_nulls = c->nulls > 0;
    PyObject *values = view_of(&c->values, c->values.size);
    PyObject *validity = has_nulls ? view_of(&c->validity, c->validity.size) : Py_NewRef(Py_None);
    PyObject *made =
        values != NULL && validity != NULL ? PyTuple_Pack(3, values, validity, Py_None) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(validity);
    return made;
}

PyObject *memory_columns(table *t)
{
    PyObject *list = PyList_New((Py_ssize_t)t->count);
    for (size_t i = 0; list != NULL && i < t->count; i++) {
        column *c = &t->columns[i];
        PyObject *made = c->kind == COLUMN_TEXT ? text_column(c) : plain_column(c);
        column_empty(c);
        if (made == NULL || PyList_SetItem(list, (Py_ssize_t)i, made) != 0)
            Py_CLEAR(list);
    }
    return list;
}
