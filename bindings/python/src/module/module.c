/* SPDX-License-Identifier: Apache-2.0 */
/* hotstack._native: Python objects for the libraries' objects, one to one. The package's API is the
 * Python layer over them. */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "inputs/census.h"
#include "inputs/inputs.h"
#include "objects.h"
#include "profiles/profile.h"
#include "profiles/trees.h"
#include "tables/producer.h"
#include "tables/table.h"
#include "work.h"

/* ---- Inputs ---- */

/* How many bytes of unpacked inputs are kept. */
#define KEEP_BYTES ((Py_ssize_t)1 << 30)

static PyTypeObject *inputs_type;

typedef struct inputs_object {
    PyObject_HEAD inputs *in;
} inputs_object;

static PyObject *inputs_create(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"items", "unfinished", "keep_bytes", NULL};
    PyObject *items;
    int unfinished = 0;
    Py_ssize_t keep_bytes = KEEP_BYTES;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|pn", names, &items, &unfinished,
                                     &keep_bytes))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    inputs_object *self = (inputs_object *)alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->in = inputs_new(items, unfinished != 0, (size_t)keep_bytes);
    if (self->in != NULL)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void inputs_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    inputs_release(((inputs_object *)self)->in);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

static inputs *get(PyObject *self)
{
    return ((inputs_object *)self)->in;
}

static PyObject *inputs_size(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(inputs_bytes(get(self)));
}

/* Opens each input once, so that an input that is no recording is reported at once. */
static int run_check(work *w, failure *f)
{
    inputs *in = get(w->self);
    for (size_t i = 0; i < inputs_count(in); i++) {
        jfr_file *file;
        if (inputs_open(in, i, NULL, &file, f) != 0)
            return -1;
        jfr_close(file);
    }
    return 0;
}

static PyObject *inputs_check(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    work *w = work_new(sizeof(*w), run_check, NULL, self, NULL);
    if (w == NULL || !work_do(w))
        return NULL;
    work_free(w);
    Py_RETURN_NONE;
}

static PyObject *inputs_number(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    return PyLong_FromSize_t(inputs_count(get(self)));
}

static PyObject *inputs_census(PyObject *self, PyObject *arguments)
{
    int events;
    PyObject *progress = Py_None;
    if (!PyArg_ParseTuple(arguments, "p|O", &events, &progress))
        return NULL;
    return census_of(get(self), events != 0, progress);
}

static PyObject *inputs_aggregate(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    return profile_new(get(self), arguments, keywords);
}

/* ---- tables ---- */

/* Returns the number of a sample column; -1 with an exception set. */
static Py_ssize_t find_column(PyObject *name)
{
    char message[160];
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL)
        return -1;
    for (size_t i = 0; i < sample_column_count(); i++)
        if (strcmp(sample_columns[i], text) == 0)
            return (Py_ssize_t)i;
    (void)snprintf(message, sizeof(message), "Samples have no column '%.60s'.", text);
    (void)errors_usage(message);
    return -1;
}

/* Sets the bits of jfr_profile_type for a list of names. Returns false with an exception set. */
static bool find_types(PyObject *list, uint32_t *types)
{
    *types = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (name == NULL || profile_type_number(name) == 0)
            return false;
        for (int type = 0; type < JFR_PROFILE_TYPE_COUNT; type++)
            if (strcmp(jfr_profile_type_name((jfr_profile_type)type), name) == 0)
                *types |= UINT32_C(1) << type;
    }
    return true;
}

/* samples(columns, types, from_ns, to_ns) */
static PyObject *inputs_samples(PyObject *self, PyObject *arguments)
{
    PyObject *columns, *types;
    long long from_ns, to_ns;
    size_t numbers[32];
    sample_request request = {.columns = numbers};
    failure f = {0};
    producer *p;
    if (!PyArg_ParseTuple(arguments, "O!O!LL", &PyList_Type, &columns, &PyList_Type, &types,
                          &from_ns, &to_ns) ||
        !find_types(types, &request.types))
        return NULL;
    request.from_ns = from_ns;
    request.to_ns = to_ns;
    request.count = (size_t)PyList_Size(columns);
    if (request.count == 0 || request.count > sample_column_count())
        return errors_usage("A table has one column or more, each once.");
    for (size_t i = 0; i < request.count; i++) {
        Py_ssize_t number = find_column(PyList_GetItem(columns, (Py_ssize_t)i));
        if (number < 0)
            return NULL;
        numbers[i] = (size_t)number;
    }
    p = samples_open(get(self), &request, &f);
    return p != NULL ? batches_new(p) : errors_raise(&f);
}

typedef struct open_work {
    work base;
    event_request request;
    const char **paths;
    producer *made;
} open_work;

static int run_open(work *w, failure *f)
{
    open_work *o = (open_work *)w;
    o->made = events_open(get(w->self), &o->request, f);
    return o->made != NULL ? 0 : -1;
}

static void clear_open(work *w)
{
    open_work *o = (open_work *)w;
    producer_free(o->made);
    free(o->paths);
}

/* Copies the texts of a list of paths. Returns false with an exception set. */
static bool take_paths(open_work *o, PyObject *columns)
{
    Py_ssize_t count = PyList_Size(columns);
    o->paths = count >= 0 ? calloc((size_t)count + 1, sizeof(*o->paths)) : NULL;
    if (o->paths == NULL) {
        if (count >= 0)
            (void)PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        o->paths[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(columns, i), NULL);
        if (o->paths[i] == NULL)
            return false;
    }
    o->request.columns = o->paths;
    o->request.count = (size_t)count;
    return true;
}

/* events(type, columns or None, from_ns, to_ns, input=False) */
static PyObject *inputs_events(PyObject *self, PyObject *arguments)
{
    PyObject *columns;
    long long from_ns, to_ns;
    const char *type;
    int names_input = 0;
    if (!PyArg_ParseTuple(arguments, "sOLL|p", &type, &columns, &from_ns, &to_ns, &names_input))
        return NULL;
    open_work *o = work_new(sizeof(*o), run_open, clear_open, self, arguments);
    if (o == NULL)
        return NULL;
    o->request = (event_request){
        .type = type, .input = names_input != 0, .from_ns = from_ns, .to_ns = to_ns};
    if (columns != Py_None && !take_paths(o, columns)) {
        work_free(&o->base);
        return NULL;
    }
    if (!work_do(&o->base))
        return NULL;
    producer *p = o->made;
    o->made = NULL;
    work_free(&o->base);
    return batches_new(p);
}

static PyMethodDef inputs_methods[] = {
    {"size", inputs_size, METH_NOARGS, "Bytes of all inputs."},
    {"count", inputs_number, METH_NOARGS, "How many they are."},
    {"check", inputs_check, METH_NOARGS, "Raises when one of them is no recording."},
    {"census", inputs_census, METH_VARARGS,
     "census(count_events, progress=None): chunks, types, settings, losses, as a dict."},
    {"aggregate", (PyCFunction)(void (*)(void))inputs_aggregate, METH_VARARGS | METH_KEYWORDS,
     "Adds the samples up: an Aggregate."},
    {"samples", inputs_samples, METH_VARARGS, "samples(columns, types, from_ns, to_ns): Batches."},
    {"events", inputs_events, METH_VARARGS,
     "events(type, columns or None, from_ns, to_ns, input=False): Batches."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot inputs_slots[] = {
    {Py_tp_new, (void *)inputs_create},
    {Py_tp_dealloc, (void *)inputs_dealloc},
    {Py_tp_methods, inputs_methods},
    {Py_tp_doc,
     (void *)"Inputs(items, unfinished=False, keep_bytes=2**30): paths (str) and buffers, in "
             "order."},
    {0, NULL},
};

static PyType_Spec inputs_spec = {
    .name = "hotstack._native.Inputs",
    .basicsize = sizeof(inputs_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = inputs_slots,
};

/* ---- the module ---- */

static PyMethodDef functions[] = {
    {"trees_json", trees_json, METH_VARARGS, "trees_json(trees, meta): flame graph JSON as bytes."},
    {"trees_html", trees_html, METH_VARARGS, "trees_html(template, trees, meta): a page as bytes."},
    {"diff", diff_new, METH_VARARGS,
     "diff(before, after, type, lines, max_nodes, min_share): a Diff of two Aggregates."},
    {"diffs_html", diffs_html, METH_VARARGS, "diffs_html(template, diffs, meta): a page as bytes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "hotstack._native",
    .m_doc = "libjfr and libstackagg, one to one.",
    .m_size = -1,
    .m_methods = functions,
};

/* Returns a list of ("cpu", "ns") ... in the catalogue's order. */
static PyObject *profile_types(void)
{
    PyObject *list = PyList_New(0);
    for (unsigned type = 1; list != NULL && type < PROFILE_TYPE_END; type++) {
        const profile_type_info *info = profile_type_get(type);
        if (!list_take(list, Py_BuildValue("(ss)", info->name, info->unit)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *column_names(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < sample_column_count(); i++)
        if (!list_take(list, PyUnicode_FromString(sample_columns[i])))
            Py_CLEAR(list);
    return list;
}

/* Adds the object to the module and releases it. */
static int add(PyObject *module, const char *name, PyObject *object)
{
    int rc = object != NULL ? PyModule_AddObjectRef(module, name, object) : -1;
    Py_XDECREF(object);
    return rc;
}

static int fill(PyObject *module)
{
    inputs_type = (PyTypeObject *)PyType_FromSpec(&inputs_spec);
    if (inputs_type == NULL ||
        PyModule_AddObjectRef(module, "Inputs", (PyObject *)inputs_type) != 0)
        return -1;
    if (errors_add(module) != 0 || table_types_add(module) != 0 || profile_types_add(module) != 0 ||
        tree_types_add(module) != 0)
        return -1;
    if (add(module, "PROFILE_TYPES", profile_types()) != 0 ||
        add(module, "SAMPLE_COLUMNS", column_names()) != 0)
        return -1;
    return PyModule_AddStringConstant(module, "VERSION", HOTSTACK_VERSION);
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && fill(module) != 0)
        Py_CLEAR(module);
    return module;
}
