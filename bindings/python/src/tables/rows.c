/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* One column of the batch, prepared for reading row by row. */
typedef struct reader {
    char format; /* first letter of the Arrow format */
    const uint8_t *validity;
    const void *values;
    PyObject *name;
    PyObject *words; /* list of str; NULL for a column without text */
} reader;

PyObject *words_of(const void *offsets, const void *text, int64_t count)
{
    const int32_t *begin = offsets;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list != NULL && i < count; i++) {
        PyObject *word =
            PyUnicode_DecodeUTF8((const char *)text + begin[i], begin[i + 1] - begin[i], "replace");
        if (word == NULL || PyList_SetItem(list, (Py_ssize_t)i, word) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *cell(const reader *r, int64_t row)
{
    if (r->validity != NULL && (r->validity[row / 8] >> (row % 8) & 1) == 0)
        Py_RETURN_NONE;
    switch (r->format) {
    case 'b':
        return PyBool_FromLong(((const uint8_t *)r->values)[row / 8] >> (row % 8) & 1);
    case 'L':
        return PyLong_FromUnsignedLongLong(((const uint64_t *)r->values)[row]);
    case 'g':
        return PyFloat_FromDouble(((const double *)r->values)[row]);
    case 'i': {
        PyObject *word = PyList_GetItem(r->words, ((const int32_t *)r->values)[row]);
        Py_XINCREF(word);
        return word;
    }
    default:
        return PyLong_FromLongLong(((const int64_t *)r->values)[row]);
    }
}

static PyObject *row_of(const reader *readers, int64_t columns, int64_t row)
{
    PyObject *dict = PyDict_New();
    for (int64_t i = 0; dict != NULL && i < columns; i++) {
        PyObject *value = cell(&readers[i], row);
        if (value == NULL || PyDict_SetItem(dict, readers[i].name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static bool open_reader(reader *r, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    *r = (reader){
        .format = schema->format[0],
        .validity = array->buffers[0],
        .values = array->buffers[1],
        .name = PyUnicode_DecodeUTF8(schema->name, (Py_ssize_t)strlen(schema->name), "replace")};
    if (array->dictionary != NULL)
        r->words = words_of(array->dictionary->buffers[1], array->dictionary->buffers[2],
                            array->dictionary->length);
    return r->name != NULL && (array->dictionary == NULL || r->words != NULL);
}

PyObject *rows_of(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    int64_t columns = array->n_children;
    reader *readers = calloc((size_t)columns + 1, sizeof(*readers));
    if (readers == NULL)
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)array->length);
    for (int64_t i = 0; list != NULL && i < columns; i++)
        if (!open_reader(&readers[i], schema->children[i], array->children[i]))
            Py_CLEAR(list);
    for (int64_t row = 0; list != NULL && row < array->length; row++) {
        PyObject *dict =
            row % 1024 != 0 || PyErr_CheckSignals() == 0 ? row_of(readers, columns, row) : NULL;
        if (dict == NULL || PyList_SetItem(list, (Py_ssize_t)row, dict) != 0)
            Py_CLEAR(list);
    }
    for (int64_t i = 0; i < columns; i++) {
        Py_XDECREF(readers[i].name);
        Py_XDECREF(readers[i].words);
    }
    free(readers);
    return list;
}
