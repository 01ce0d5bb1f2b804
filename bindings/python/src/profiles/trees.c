/* SPDX-License-Identifier: Apache-2.0 */
#include "trees.h"

#include <recording/deflate.h>
#include <stdlib.h>
#include <string.h>

#include "module/errors.h"
#include "module/objects.h"
#include "profile.h"

static PyTypeObject *tree_type;
static PyTypeObject *diff_type;

typedef struct tree {
    PyObject_HEAD sagg_tree *held;
} tree;

typedef struct diff {
    PyObject_HEAD sagg_diff *held;
} diff;

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc function = (freefunc)PyType_GetSlot(type, Py_tp_free);
    function(self);
    Py_DECREF(type);
}

static void tree_dealloc(PyObject *self)
{
    sagg_tree_free(((tree *)self)->held);
    free_object(self);
}

static void diff_dealloc(PyObject *self)
{
    sagg_diff_free(((diff *)self)->held);
    free_object(self);
}

static PyObject *raise_sagg(const sagg_error *cause)
{
    failure f = {0};
    (void)failure_sagg(&f, cause);
    return errors_raise(&f);
}

/* ---- text that is made ---- */

typedef struct made {
    char *data;
    size_t size, room;
} made;

static int add_piece(void *ctx, const void *data, size_t size)
{
    made *m = ctx;
    if (size > m->room - m->size) {
        size_t room = m->room == 0 ? 65536 : m->room * 2;
        while (room - m->size < size)
            room *= 2;
        char *grown = realloc(m->data, room);
        if (grown == NULL)
            return -1;
        m->data = grown;
        m->room = room;
    }
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return 0;
}

/* The only way in which the sink refuses is missing memory. */
static PyObject *finish(made *m, int rc, const sagg_error *cause)
{
    PyObject *text = NULL;
    if (rc == SAGG_ERR_IO)
        text = PyErr_NoMemory();
    else if (rc != 0)
        text = raise_sagg(cause);
    else
        text = PyBytes_FromStringAndSize(m->data, (Py_ssize_t)m->size);
    free(m->data);
    return text;
}

/* ---- trees ---- */

static int build(sagg_tree **out, const sagg *agg, const sagg_tree_options *options, bool inverted,
                 sagg_error *cause)
{
    if (!inverted)
        return sagg_tree_new(out, agg, options, cause);
    sagg_tree_options whole = *options;
    sagg_shape_options shape = SAGG_SHAPE_OPTIONS_INIT;
    sagg_tree *upright;
    whole.max_nodes = 0;
    whole.min_total = 0;
    shape.shape = SAGG_SHAPE_REVERSED;
    shape.max_nodes = options->max_nodes;
    shape.min_total = options->min_total;
    int rc = sagg_tree_new(&upright, agg, &whole, cause);
    if (rc != 0)
        return rc;
    rc = sagg_tree_shape(out, upright, &shape, cause);
    sagg_tree_free(upright);
    return rc;
}

PyObject *tree_new(const gathered *g, PyObject *arguments)
{
    const char *name;
    int lines, threads, inverted;
    unsigned long long min_total;
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "spppIK", &name, &lines, &threads, &inverted,
                          &options.max_nodes, &min_total))
        return NULL;
    options.type = profile_type_number(name);
    if (options.type == 0)
        return NULL;
    options.lines = lines != 0;
    options.threads = threads != 0;
    options.min_total = min_total;
    sagg_tree *held = NULL;
    sagg_error cause;
    int rc;
    Py_BEGIN_ALLOW_THREADS;
    rc = build(&held, g->agg, &options, inverted != 0, &cause);
    Py_END_ALLOW_THREADS;
    if (rc != 0)
        return raise_sagg(&cause);
    allocfunc alloc = (allocfunc)PyType_GetSlot(tree_type, Py_tp_alloc);
    tree *t = (tree *)alloc(tree_type, 0);
    if (t == NULL) {
        sagg_tree_free(held);
        return NULL;
    }
    t->held = held;
    return (PyObject *)t;
}

static PyObject *numbers32(const uint32_t *list, size_t count)
{
    PyObject *result = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLong(list[i]);
        if (number == NULL || PyList_SetItem(result, (Py_ssize_t)i, number) != 0)
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *numbers64(const uint64_t *list, size_t count)
{
    PyObject *result = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; result != NULL && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(list[i]);
        if (number == NULL || PyList_SetItem(result, (Py_ssize_t)i, number) != 0)
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *frames_of(const sagg_tree_view *view)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < view->frame_count; i++)
        if (!list_take(list, frame_of(&view->frames[i])))
            Py_CLEAR(list);
    return list;
}

static bool add_omitted(PyObject *dict, const sagg_tree_view *view)
{
    return dict_take(dict, "omitted_node", numbers32(view->omitted_node, view->omitted_count)) &&
           dict_take(dict, "omitted_total", numbers64(view->omitted_total, view->omitted_count)) &&
           dict_take(dict, "omitted_nodes", numbers64(view->omitted_nodes, view->omitted_count));
}

static PyObject *tree_arrays(PyObject *self, PyObject *ignored)
{
    const sagg_tree_view *view = sagg_tree_get(((tree *)self)->held);
    PyObject *dict = PyDict_New();
    (void)ignored;
    if (dict != NULL && dict_take(dict, "type", text_of_sagg(view->type)) &&
        dict_take(dict, "unit", text_of_sagg(view->unit)) &&
        dict_take(dict, "frames", frames_of(view)) &&
        dict_take(dict, "depth", numbers32(view->depth, view->node_count)) &&
        dict_take(dict, "frame", numbers32(view->frame, view->node_count)) &&
        dict_take(dict, "self", numbers64(view->self, view->node_count)) &&
        dict_take(dict, "total", numbers64(view->total, view->node_count)) &&
        add_omitted(dict, view))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/* ---- files ---- */

PyObject *tree_collapsed(const gathered *g, PyObject *arguments)
{
    const char *name;
    int lines, threads;
    sagg_collapsed_options options = SAGG_COLLAPSED_OPTIONS_INIT;
    made m = {0};
    sagg_error cause;
    int rc;
    if (!PyArg_ParseTuple(arguments, "spp", &name, &lines, &threads))
        return NULL;
    unsigned type = profile_type_number(name);
    if (type == 0)
        return NULL;
    options.lines = lines != 0;
    options.threads = threads != 0;
    sagg_sink sink = {add_piece, &m};
    Py_BEGIN_ALLOW_THREADS;
    rc = sagg_write_collapsed(g->agg, type, &options, &sink, &cause);
    Py_END_ALLOW_THREADS;
    return finish(&m, rc, &cause);
}

/* The C objects of a list of `type`; `*list` is freed by the caller. False with an exception set.
 */
static bool held_of(PyObject *sequence, PyTypeObject *type, const void ***list, size_t *count)
{
    Py_ssize_t size = PySequence_Size(sequence);
    *list = size >= 0 ? calloc((size_t)size + 1, sizeof(void *)) : NULL;
    if (*list == NULL) {
        if (size >= 0)
            (void)PyErr_NoMemory();
        return false;
    }
    *count = (size_t)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        bool good = item != NULL && PyObject_TypeCheck(item, type);
        if (good)
            (*list)[i] = type == tree_type ? (const void *)((tree *)item)->held
                                           : (const void *)((diff *)item)->held;
        Py_XDECREF(item); /* the sequence keeps it */
        if (!good) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "a list of trees or diffs is needed");
            return false;
        }
    }
    return true;
}

PyObject *trees_json(PyObject *module, PyObject *arguments)
{
    PyObject *sequence;
    const char *meta;
    Py_ssize_t meta_size;
    const void **list = NULL;
    size_t count;
    made m = {0};
    sagg_error cause;
    sagg_sink sink = {add_piece, &m};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!y#", &PyTuple_Type, &sequence, &meta, &meta_size))
        return NULL;
    if (!held_of(sequence, tree_type, &list, &count)) {
        free(list);
        return NULL;
    }
    int rc;
    Py_BEGIN_ALLOW_THREADS;
    rc = sagg_write_json((const sagg_tree *const *)list, count, (sagg_str){meta, (size_t)meta_size},
                         &sink, &cause);
    Py_END_ALLOW_THREADS;
    free(list);
    return finish(&m, rc, &cause);
}

/* Both kinds of pages are made alike. */
static PyObject *page(PyObject *arguments, PyTypeObject *type)
{
    PyObject *sequence;
    const char *template, *meta;
    Py_ssize_t template_size, meta_size;
    const void **list = NULL;
    size_t count;
    made m = {0};
    sagg_error cause;
    sagg_sink sink = {add_piece, &m};
    if (!PyArg_ParseTuple(arguments, "y#O!y#", &template, &template_size, &PyTuple_Type, &sequence,
                          &meta, &meta_size))
        return NULL;
    if (!held_of(sequence, type, &list, &count)) {
        free(list);
        return NULL;
    }
    sagg_str html = {template, (size_t)template_size};
    sagg_str about = {meta, (size_t)meta_size};
    recording_deflate *deflate = recording_deflate_new();
    if (deflate == NULL) {
        free(list);
        return PyErr_NoMemory();
    }
    sagg_compress compress = recording_deflate_page(deflate);
    int rc;
    Py_BEGIN_ALLOW_THREADS;
    if (type == tree_type)
        rc = sagg_write_html(html, (const sagg_tree *const *)list, count, about, &compress, &sink,
                             &cause);
    else
        rc = sagg_write_diff_html(html, (const sagg_diff *const *)list, count, about, &compress,
                                  &sink, &cause);
    Py_END_ALLOW_THREADS;
    recording_deflate_free(deflate);
    free(list);
    return finish(&m, rc, &cause);
}

PyObject *trees_html(PyObject *module, PyObject *arguments)
{
    (void)module;
    return page(arguments, tree_type);
}

PyObject *diffs_html(PyObject *module, PyObject *arguments)
{
    (void)module;
    return page(arguments, diff_type);
}

/* ---- comparisons ---- */

typedef struct pair {
    const gathered *before, *after;
    unsigned type;
    bool lines;
} pair;

static int compare(sagg_diff **out, const pair *p, sagg_diff_options *options, sagg_error *cause)
{
    sagg_tree_options tree_options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *before = NULL;
    sagg_tree *after = NULL;
    tree_options.type = p->type;
    tree_options.lines = p->lines;
    options->before = p->before->windows[p->type];
    options->after = p->after->windows[p->type];
    int rc = sagg_tree_new(&before, p->before->agg, &tree_options, cause);
    if (rc == 0)
        rc = sagg_tree_new(&after, p->after->agg, &tree_options, cause);
    if (rc == 0)
        rc = sagg_diff_new(out, before, after, options, cause);
    sagg_tree_free(before);
    sagg_tree_free(after);
    return rc;
}

PyObject *diff_new(PyObject *module, PyObject *arguments)
{
    PyObject *before, *after;
    const char *name;
    int lines;
    unsigned long long min_share;
    sagg_diff_options options = SAGG_DIFF_OPTIONS_INIT;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOspIK", &before, &after, &name, &lines, &options.max_nodes,
                          &min_share))
        return NULL;
    pair p = {.before = profile_of(before), .after = profile_of(after), .lines = lines != 0};
    if (p.before == NULL || p.after == NULL || (p.type = profile_type_number(name)) == 0)
        return NULL;
    options.min_share = min_share;
    sagg_diff *held = NULL;
    sagg_error cause;
    int rc;
    Py_BEGIN_ALLOW_THREADS;
    rc = compare(&held, &p, &options, &cause);
    Py_END_ALLOW_THREADS;
    if (rc != 0)
        return raise_sagg(&cause);
    allocfunc alloc = (allocfunc)PyType_GetSlot(diff_type, Py_tp_alloc);
    diff *d = (diff *)alloc(diff_type, 0);
    if (d == NULL) {
        sagg_diff_free(held);
        return NULL;
    }
    d->held = held;
    return (PyObject *)d;
}

/* (frame, before_self, after_self, before_share, after_share, low, high); shares in billionths, low
 * and high None where there is no interval. */
static PyObject *change_row(const sagg_change *c)
{
    PyObject *frame = frame_of(&c->method);
    if (frame == NULL)
        return NULL;
    if (!c->has_interval)
        return Py_BuildValue("(NKKLLOO)", frame, (unsigned long long)c->before_self,
                             (unsigned long long)c->after_self, (long long)c->before_share,
                             (long long)c->after_share, Py_None, Py_None);
    return Py_BuildValue("(NKKLLLL)", frame, (unsigned long long)c->before_self,
                         (unsigned long long)c->after_self, (long long)c->before_share,
                         (long long)c->after_share, (long long)c->low, (long long)c->high);
}

static PyObject *diff_changes(PyObject *self, PyObject *ignored)
{
    const sagg_diff_view *view = sagg_diff_get(((diff *)self)->held);
    PyObject *list = PyList_New(0);
    (void)ignored;
    for (size_t i = 0; list != NULL && i < view->change_count; i++)
        if (!list_take(list, change_row(&view->changes[i])))
            Py_CLEAR(list);
    return list;
}

static PyMethodDef tree_methods[] = {
    {"arrays", tree_arrays, METH_NOARGS, "The tree's arrays in preorder, as a dict of lists."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tree_slots[] = {
    {Py_tp_dealloc, (void *)tree_dealloc},
    {Py_tp_methods, tree_methods},
    {Py_tp_doc, (void *)"A flame tree of one profile type."},
    {0, NULL},
};

static PyType_Spec tree_spec = {
    .name = "hotstack._native.Tree",
    .basicsize = sizeof(tree),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = tree_slots,
};

static PyMethodDef diff_methods[] = {
    {"changes", diff_changes, METH_NOARGS,
     "A list of (frame, before_self, after_self, before_share, after_share, low, high)."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot diff_slots[] = {
    {Py_tp_dealloc, (void *)diff_dealloc},
    {Py_tp_methods, diff_methods},
    {Py_tp_doc, (void *)"Two flame trees of one profile type, compared."},
    {0, NULL},
};

static PyType_Spec diff_spec = {
    .name = "hotstack._native.Diff",
    .basicsize = sizeof(diff),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = diff_slots,
};

int tree_types_add(PyObject *module)
{
    tree_type = (PyTypeObject *)PyType_FromSpec(&tree_spec);
    diff_type = (PyTypeObject *)PyType_FromSpec(&diff_spec);
    if (tree_type == NULL || diff_type == NULL ||
        PyModule_AddObjectRef(module, "Tree", (PyObject *)tree_type) != 0)
        return -1;
    return PyModule_AddObjectRef(module, "Diff", (PyObject *)diff_type);
}
