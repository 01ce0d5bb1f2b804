/* SPDX-License-Identifier: Apache-2.0 */
#include "errors.h"

#include <stdio.h>

static PyObject *base_error;
static PyObject *classes[FAILURE_RAISED];

static const struct {
    enum failure_class what;
    const char *name;
    const char *code;
    const char *doc;
} rows[] = {
    {FAILURE_IO, "IoError", "io", "A recording cannot be opened or read."},
    {FAILURE_FORMAT, "FormatError", "format",
     "The bytes are no recording, or are damaged at `offset`."},
    {FAILURE_LIMIT, "LimitError", "limit",
     "A limit of the readers is passed; the message names it."},
    {FAILURE_USAGE, "UsageError", "usage",
     "A wrong argument: the message says what is there instead."},
};

/* Returns the built-in class that a user would catch; each class of ours derives from it. */
static PyObject *built_in(enum failure_class what)
{
    if (what == FAILURE_IO)
        return PyExc_OSError;
    if (what == FAILURE_FORMAT || what == FAILURE_USAGE)
        return PyExc_ValueError;
    return NULL;
}

static PyObject *new_class(size_t i)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "hotstack.%s", rows[i].name);
    PyObject *also = built_in(rows[i].what);
    PyObject *bases =
        also != NULL ? PyTuple_Pack(2, base_error, also) : PyTuple_Pack(1, base_error);
    PyObject *attributes = Py_BuildValue("{s:s}", "code", rows[i].code);
    PyObject *class = NULL;
    if (bases != NULL && attributes != NULL)
        class = PyErr_NewExceptionWithDoc(name, rows[i].doc, bases, attributes);
    Py_XDECREF(bases);
    Py_XDECREF(attributes);
    return class;
}

int errors_add(PyObject *module)
{
    PyObject *attributes = Py_BuildValue("{s:s,s:O}", "code", "", "offset", Py_None);
    if (attributes == NULL)
        return -1;
    base_error =
        PyErr_NewExceptionWithDoc("hotstack.HotstackError",
                                  "What hotstack raises. `code` is \"io\", \"format\", \"limit\", "
                                  "\"usage\" or \"program\"; `offset` "
                                  "is the byte of the\nrecording that is to blame, or None.",
                                  NULL, attributes);
    Py_DECREF(attributes);
    if (base_error == NULL || PyModule_AddObjectRef(module, "HotstackError", base_error) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        PyObject *class = new_class(i);
        if (class == NULL)
            return -1;
        classes[rows[i].what] = class;
        if (PyModule_AddObjectRef(module, rows[i].name, class) != 0)
            return -1;
    }
    return 0;
}

/* Returns "app.jfr: at byte 4096: MESSAGE", with the parts that are known. */
static PyObject *message_of(const failure *f)
{
    char text[600];
    char place[40] = "";
    /* The message of an input that cannot be opened already names it. */
    const char *input = f->what != FAILURE_IO ? f->input : "";
    const char *colon = input[0] != '\0' ? ": " : "";
    if (f->what == FAILURE_FORMAT)
        (void)snprintf(place, sizeof(place), "at byte %llu: ", (unsigned long long)f->offset);
    int size = snprintf(text, sizeof(text), "%s%s%s%s", input, colon, place, f->message);
    if (size < 0)
        size = 0;
    if ((size_t)size >= sizeof(text))
        size = (int)sizeof(text) - 1;
    /* A path can have any bytes, and can be cut within a character. */
    return PyUnicode_DecodeUTF8(text, size, "replace");
}

PyObject *errors_raise(const failure *f)
{
    if (f->what == FAILURE_RAISED)
        return NULL;
    if (f->what == FAILURE_NOMEM)
        return PyErr_NoMemory();
    PyObject *message = message_of(f);
    PyObject *error =
        message != NULL ? PyObject_CallFunctionObjArgs(classes[f->what], message, NULL) : NULL;
    Py_XDECREF(message);
    PyObject *offset = NULL;
    if (error != NULL && (f->what == FAILURE_FORMAT || f->offset != 0))
        offset = PyLong_FromUnsignedLongLong(f->offset);
    if (error != NULL && (offset == NULL || PyObject_SetAttrString(error, "offset", offset) == 0) &&
        !PyErr_Occurred())
        PyErr_SetObject(classes[f->what], error);
    Py_XDECREF(offset);
    Py_XDECREF(error);
    return NULL;
}

PyObject *errors_usage(const char *message)
{
    failure f = {0};
    (void)failure_set(&f, FAILURE_USAGE, message);
    return errors_raise(&f);
}
