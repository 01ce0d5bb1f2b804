/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

PyObject *text_of(const char *data, size_t size)
{
    if (data == NULL)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, "replace");
}

PyObject *text_of_sagg(sagg_str s)
{
    static const char nothing[] = "";
    return text_of(s.size > 0 ? s.data : nothing, s.size);
}

bool list_take(PyObject *list, PyObject *item)
{
    bool taken = item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return taken;
}

bool dict_take(PyObject *dict, const char *key, PyObject *item)
{
    bool taken = item != NULL && PyDict_SetItemString(dict, key, item) == 0;
    Py_XDECREF(item);
    return taken;
}

PyObject *frame_of(const sagg_frame *frame)
{
    static const char *const kinds[] = {"java", "native", "jvm", "kernel", "unknown"};
    PyObject *class = text_of_sagg(frame->class_name);
    PyObject *method = text_of_sagg(frame->method);
    PyObject *tuple = NULL;
    if (class != NULL && method != NULL)
        tuple = Py_BuildValue("(OOsI)", class, method, kinds[frame->kind], frame->line);
    Py_XDECREF(class);
    Py_XDECREF(method);
    return tuple;
}
