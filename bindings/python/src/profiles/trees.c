/* SPDX-License-Identifier: Apache-2.0 */
#include "trees.h"

#include <recording/deflate.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- output text ---- */

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

/* Returns the failure of an output: the sink fails only without memory. */
static int made_failure(failure *f, const sagg_error *cause)
{
    return cause->code == SAGG_ERR_IO ? failure_nomem(f) : failure_sagg(f, cause);
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

typedef struct tree_work {
    work base;
    const sagg *agg;
    sagg_tree_options options;
    bool inverted;
    sagg_tree *made;
} tree_work;

static int run_tree(work *w, failure *f)
{
    tree_work *t = (tree_work *)w;
    sagg_error cause;
    int rc = build(&t->made, t->agg, &t->options, t->inverted, &cause);
    return rc != 0 ? failure_sagg(f, &cause) : 0;
}

static void clear_tree(work *w)
{
    sagg_tree_free(((tree_work *)w)->made);
}

PyObject *tree_new(PyObject *self, const gathered *g, PyObject *arguments)
{
    const char *name;
    int lines, threads, inverted;
    unsigned long long min_total;
    sagg_tree_options options = SAGG_TREE_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "spppIK", &name, &lines, &threads, &inverted,
                          &options.max_nodes, &min_total))
        return NULL;
    options.type = profile_type_number(name);
    options.lines = lines != 0;
    options.threads = threads != 0;
    options.min_total = min_total;
    tree_work *w =
        options.type != 0 ? work_new(sizeof(*w), run_tree, clear_tree, self, arguments) : NULL;
    if (w == NULL)
        return NULL;
    w->agg = g->agg;
    w->options = options;
    w->inverted = inverted != 0;
    if (!work_do(&w->base))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(tree_type, Py_tp_alloc);
    tree *t = (tree *)alloc(tree_type, 0);
    if (t != NULL) {
        t->held = w->made;
        w->made = NULL;
    }
    work_free(&w->base);
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

/* The work of writing text. `arguments` keeps the objects that it reads. */
typedef struct text_work {
    work base;
    made m;
    const sagg *agg; /* collapsed stacks ... */
    unsigned type;
    sagg_collapsed_options options;
    const void **list; /* ... or trees or diffs */
    size_t count;
    bool are_diffs;
    sagg_str template, meta;
    recording_deflate *deflate;
} text_work;

static void clear_text(work *w)
{
    text_work *t = (text_work *)w;
    free(t->m.data);
    free(t->list);
    recording_deflate_free(t->deflate);
}

static PyObject *write_text(text_work *t)
{
    if (!work_do(&t->base))
        return NULL;
    PyObject *text = PyBytes_FromStringAndSize(t->m.data, (Py_ssize_t)t->m.size);
    work_free(&t->base);
    return text;
}

static int run_collapsed(work *w, failure *f)
{
    text_work *t = (text_work *)w;
    sagg_error cause;
    sagg_sink sink = {add_piece, &t->m};
    int rc = sagg_write_collapsed(t->agg, t->type, &t->options, &sink, &cause);
    return rc != 0 ? made_failure(f, &cause) : 0;
}

PyObject *tree_collapsed(PyObject *self, const gathered *g, PyObject *arguments)
{
    const char *name;
    int lines, threads;
    if (!PyArg_ParseTuple(arguments, "spp", &name, &lines, &threads))
        return NULL;
    unsigned type = profile_type_number(name);
    text_work *t =
        type != 0 ? work_new(sizeof(*t), run_collapsed, clear_text, self, arguments) : NULL;
    if (t == NULL)
        return NULL;
    t->agg = g->agg;
    t->type = type;
    t->options = (sagg_collapsed_options)SAGG_COLLAPSED_OPTIONS_INIT;
    t->options.lines = lines != 0;
    t->options.threads = threads != 0;
    return write_text(t);
}

/* Takes the C objects out of a list of trees or diffs. Returns false with an exception set. */
static bool take_list(text_work *t, PyObject *sequence)
{
    PyTypeObject *type = t->are_diffs ? diff_type : tree_type;
    Py_ssize_t size = PyTuple_Size(sequence);
    t->list = size >= 0 ? calloc((size_t)size + 1, sizeof(void *)) : NULL;
    if (t->list == NULL) {
        if (size >= 0)
            (void)PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PyTuple_GetItem(sequence, i);
        if (!PyObject_TypeCheck(item, type)) {
            PyErr_SetString(PyExc_TypeError, "a list of trees or diffs is needed");
            return false;
        }
        t->list[t->count++] =
            t->are_diffs ? (const void *)((diff *)item)->held : (const void *)((tree *)item)->held;
    }
    return true;
}

static int run_json(work *w, failure *f)
{
    text_work *t = (text_work *)w;
    sagg_error cause;
    sagg_sink sink = {add_piece, &t->m};
    int rc = sagg_write_json((const sagg_tree *const *)t->list, t->count, t->meta, &sink, &cause);
    return rc != 0 ? made_failure(f, &cause) : 0;
}

PyObject *trees_json(PyObject *module, PyObject *arguments)
{
    PyObject *sequence;
    const char *meta;
    Py_ssize_t meta_size;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!y#", &PyTuple_Type, &sequence, &meta, &meta_size))
        return NULL;
    text_work *t = work_new(sizeof(*t), run_json, clear_text, NULL, arguments);
    if (t == NULL)
        return NULL;
    t->meta = (sagg_str){meta, (size_t)meta_size};
    if (take_list(t, sequence))
        return write_text(t);
    work_free(&t->base);
    return NULL;
}

static int run_page(work *w, failure *f)
{
    text_work *t = (text_work *)w;
    sagg_error cause;
    sagg_sink sink = {add_piece, &t->m};
    sagg_compress compress = recording_deflate_page(t->deflate);
    int rc = t->are_diffs ? sagg_write_diff_html(t->template, (const sagg_diff *const *)t->list,
                                                 t->count, t->meta, &compress, &sink, &cause)
                          : sagg_write_html(t->template, (const sagg_tree *const *)t->list,
                                            t->count, t->meta, &compress, &sink, &cause);
    return rc != 0 ? made_failure(f, &cause) : 0;
}

/* Makes a page of trees or of diffs. */
static PyObject *page(PyObject *arguments, bool are_diffs)
{
    PyObject *sequence;
    const char *template, *meta;
    Py_ssize_t template_size, meta_size;
    if (!PyArg_ParseTuple(arguments, "y#O!y#", &template, &template_size, &PyTuple_Type, &sequence,
                          &meta, &meta_size))
        return NULL;
    text_work *t = work_new(sizeof(*t), run_page, clear_text, NULL, arguments);
    if (t == NULL)
        return NULL;
    t->are_diffs = are_diffs;
    t->template = (sagg_str){template, (size_t)template_size};
    t->meta = (sagg_str){meta, (size_t)meta_size};
    t->deflate = recording_deflate_new();
    if (t->deflate == NULL)
        (void)PyErr_NoMemory();
    if (t->deflate != NULL && take_list(t, sequence))
        return write_text(t);
    work_free(&t->base);
    return NULL;
}

PyObject *trees_html(PyObject *module, PyObject *arguments)
{
    (void)module;
    return page(arguments, false);
}

PyObject *diffs_html(PyObject *module, PyObject *arguments)
{
    (void)module;
    return page(arguments, true);
}

/* ---- comparisons ---- */

typedef struct diff_work {
    work base;
    const gathered *before, *after;
    unsigned type;
    bool lines;
    sagg_diff_options options;
    sagg_diff *made;
} diff_work;

static int run_diff(work *w, failure *f)
{
    diff_work *d = (diff_work *)w;
    sagg_tree_options tree_options = SAGG_TREE_OPTIONS_INIT;
    sagg_tree *before = NULL;
    sagg_tree *after = NULL;
    sagg_error cause;
    tree_options.type = d->type;
    tree_options.lines = d->lines;
    d->options.before = d->before->windows[d->type];
    d->options.after = d->after->windows[d->type];
    int rc = sagg_tree_new(&before, d->before->agg, &tree_options, &cause);
    if (rc == 0)
        rc = sagg_tree_new(&after, d->after->agg, &tree_options, &cause);
    if (rc == 0)
        rc = sagg_diff_new(&d->made, before, after, &d->options, &cause);
    sagg_tree_free(before);
    sagg_tree_free(after);
    return rc != 0 ? failure_sagg(f, &cause) : 0;
}

static void clear_diff(work *w)
{
    sagg_diff_free(((diff_work *)w)->made);
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
    const gathered *first = profile_of(before);
    const gathered *second = first != NULL ? profile_of(after) : NULL;
    unsigned type = second != NULL ? profile_type_number(name) : 0;
    diff_work *w = type != 0 ? work_new(sizeof(*w), run_diff, clear_diff, NULL, arguments) : NULL;
    if (w == NULL)
        return NULL;
    w->before = first;
    w->after = second;
    w->type = type;
    w->lines = lines != 0;
    w->options = options;
    w->options.min_share = min_share;
    if (!work_do(&w->base))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(diff_type, Py_tp_alloc);
    diff *d = (diff *)alloc(diff_type, 0);
    if (d != NULL) {
        d->held = w->made;
        w->made = NULL;
    }
    work_free(&w->base);
    return (PyObject *)d;
}

/* Returns (frame, before_self, after_self, before_share, after_share, low, high). Shares are in
 * billionths; low and high are None where there is no interval. */
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
