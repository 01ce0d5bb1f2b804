/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/errors.h"
#include "module/objects.h"
#include "trees.h"

static PyTypeObject *aggregate_type;

typedef struct aggregate {
    PyObject_HEAD gathered g;
} aggregate;

static void aggregate_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    gather_free(&((aggregate *)self)->g);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

const gathered *profile_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, aggregate_type))
        return &((aggregate *)object)->g;
    PyErr_SetString(PyExc_TypeError, "an Aggregate is needed");
    return NULL;
}

unsigned profile_type_number(const char *name)
{
    char message[160];
    const profile_type_info *info = profile_type_find(name);
    if (info != NULL)
        return info->type;
    (void)snprintf(message, sizeof(message), "There is no profile type '%.60s'.", name);
    (void)errors_usage(message);
    return 0;
}

/* ---- totals ---- */

static PyObject *aggregate_totals(PyObject *self, PyObject *ignored)
{
    const sagg *agg = ((aggregate *)self)->g.agg;
    uint64_t stacks[SAGG_MAX_TYPE + 1];
    (void)ignored;
    sagg_type_stacks(agg, stacks);
    PyObject *list = PyList_New(0);
    for (unsigned type = 1; list != NULL && type < PROFILE_TYPE_END; type++) {
        const profile_type_info *info = profile_type_get(type);
        sagg_totals sums = sagg_type_totals(agg, type);
        if (sums.samples == 0)
            continue;
        if (!list_take(list, Py_BuildValue("(ssKKKK)", info->name, info->unit,
                                           (unsigned long long)sums.samples,
                                           (unsigned long long)sums.raw_value,
                                           (unsigned long long)sums.value,
                                           (unsigned long long)stacks[type])))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- top ---- */

static PyObject *top_rows(const sagg_top *top)
{
    size_t count;
    const sagg_top_row *rows = sagg_top_rows(top, &count, NULL);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *frame = frame_of(&rows[i].frame);
        PyObject *row = frame != NULL
                            ? Py_BuildValue("(NKK)", frame, (unsigned long long)rows[i].self,
                                            (unsigned long long)rows[i].total)
                            : NULL;
        if (!list_take(list, row))
            Py_CLEAR(list);
    }
    return list;
}

typedef struct top_work {
    work base;
    const sagg *agg;
    unsigned type;
    size_t limit;
    sagg_top *top;
} top_work;

static int run_top(work *w, failure *f)
{
    top_work *t = (top_work *)w;
    sagg_error cause;
    int rc = sagg_top_new(&t->top, t->agg, t->type, t->limit, &cause);
    return rc != 0 ? failure_sagg(f, &cause) : 0;
}

static void clear_top(work *w)
{
    sagg_top_free(((top_work *)w)->top);
}

static PyObject *aggregate_top(PyObject *self, PyObject *arguments)
{
    const char *name;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(arguments, "sn", &name, &limit))
        return NULL;
    unsigned type = profile_type_number(name);
    top_work *t = type != 0 ? work_new(sizeof(*t), run_top, clear_top, self, arguments) : NULL;
    if (t == NULL)
        return NULL;
    t->agg = ((aggregate *)self)->g.agg;
    t->type = type;
    t->limit = (size_t)limit;
    if (!work_do(&t->base))
        return NULL;
    PyObject *list = top_rows(t->top);
    work_free(&t->base);
    return list;
}

/* ---- threads ---- */

static PyObject *thread_row(const sagg_thread *thread, const sagg_totals *sums)
{
    PyObject *name = text_of_sagg(thread->name);
    PyObject *pool = text_of_sagg(thread->pool);
    PyObject *row = NULL;
    if (name != NULL && pool != NULL)
        row = Py_BuildValue("(OOLLKK)", name, pool, (long long)thread->os_tid,
                            (long long)thread->java_tid, (unsigned long long)sums->value,
                            (unsigned long long)sums->samples);
    Py_XDECREF(name);
    Py_XDECREF(pool);
    return row;
}

/* Returns whether a thread represents a pool; its values repeat those of the pool's threads. */
static bool is_pool(const sagg_thread *thread, uint32_t index)
{
    return index > SAGG_DROPPED_THREAD && thread->pool_thread == index;
}

static PyObject *aggregate_threads(PyObject *self, PyObject *arguments)
{
    const sagg *agg = ((aggregate *)self)->g.agg;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name))
        return NULL;
    unsigned type = profile_type_number(name);
    PyObject *list = type != 0 ? PyList_New(0) : NULL;
    for (uint32_t i = 0; list != NULL && i < sagg_thread_count(agg); i++) {
        sagg_thread thread;
        sagg_totals sums = sagg_thread_totals(agg, i, type);
        if (sums.samples == 0 || !sagg_thread_at(agg, i, &thread) || is_pool(&thread, i))
            continue;
        if (!list_take(list, thread_row(&thread, &sums)))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- times ---- */

static PyObject *counts_of(const histogram *h, const histogram_row *row)
{
    PyObject *list = PyList_New((Py_ssize_t)h->buckets);
    for (uint64_t i = 0; list != NULL && i < h->buckets; i++) {
        PyObject *count = PyLong_FromUnsignedLongLong(row->counts[i]);
        if (count == NULL || PyList_SetItem(list, (Py_ssize_t)i, count) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *aggregate_times(PyObject *self, PyObject *ignored)
{
    const gathered *g = &((aggregate *)self)->g;
    PyObject *list = PyList_New(0);
    (void)ignored;
    for (size_t i = 0; list != NULL && i < g->times.count; i++) {
        const histogram_row *row = &g->times.rows[i];
        sagg_thread pool = {0};
        if (g->times.by_pool)
            (void)sagg_thread_at(g->agg, row->pool, &pool);
        PyObject *name = text_of_sagg(pool.pool);
        PyObject *counts = name != NULL ? counts_of(&g->times, row) : NULL;
        PyObject *tuple =
            counts != NULL ? Py_BuildValue("(sOO)", profile_type_get(row->type)->name, name, counts)
                           : NULL;
        Py_XDECREF(name);
        Py_XDECREF(counts);
        if (!list_take(list, tuple))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- what was read ---- */

static PyObject *text_or_replaced(const char *text)
{
    return text_of(text, strlen(text));
}

static bool add_notes(PyObject *dict, const recording *rec)
{
    char line[256];
    PyObject *notes = PyList_New(0);
    for (size_t i = 0; notes != NULL && recording_loss_line(rec, i, line, sizeof(line)); i++)
        if (!list_take(notes, text_or_replaced(line)))
            Py_CLEAR(notes);
    for (size_t i = 0; notes != NULL && recording_left_out_line(rec, i, line, sizeof(line)); i++)
        if (!list_take(notes, text_or_replaced(line)))
            Py_CLEAR(notes);
    return dict_take(dict, "notes", notes);
}

static bool add_unread(PyObject *dict, const recording *rec)
{
    const recording_unread *rows;
    size_t count = recording_unread_events(rec, &rows);
    PyObject *unread = PyDict_New();
    for (size_t i = 0; unread != NULL && i < count; i++) {
        PyObject *name = text_or_replaced(rows[i].event);
        PyObject *events = PyLong_FromUnsignedLongLong(rows[i].count);
        if (name == NULL || events == NULL || PyDict_SetItem(unread, name, events) < 0)
            Py_CLEAR(unread);
        Py_XDECREF(name);
        Py_XDECREF(events);
    }
    return dict_take(dict, "unread", unread);
}

static bool add_intervals(PyObject *dict, const recording_info *info)
{
    PyObject *intervals = PyDict_New();
    for (unsigned type = 1; intervals != NULL && type < PROFILE_TYPE_END; type++)
        if (info->interval[type] != 0 &&
            !dict_take(intervals, profile_type_get(type)->name,
                       PyLong_FromUnsignedLongLong(info->interval[type])))
            Py_CLEAR(intervals);
    return dict_take(dict, "intervals", intervals);
}

static bool add_counts(PyObject *dict, const recording_info *info)
{
    const recording_counts *c = &info->counts;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"chunks_lost", info->chunks_lost},
        {"chunks_partial", info->chunks_partial},
        {"bytes_lost", info->bytes_lost},
        {"recorder_samples", info->recorder_samples},
        {"recorder_bytes", info->recorder_bytes},
        {"bad_events", c->bad_events},
        {"bad_stacks", c->bad_stacks},
        {"stackless_samples", c->stackless_samples},
        {"unmeasured_events", c->unmeasured_events},
        {"rival_events", c->rival_events},
        {"idle_waits", c->idle_waits},
        {"native_samples", c->native_samples},
        {"failed_samples", c->failed_samples},
    };
    PyObject *counts = PyDict_New();
    for (size_t i = 0; counts != NULL && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!dict_take(counts, rows[i].name, PyLong_FromUnsignedLongLong(rows[i].count)))
            Py_CLEAR(counts);
    return dict_take(dict, "counts", counts);
}

static PyObject *aggregate_info(PyObject *self, PyObject *ignored)
{
    const recording *rec = ((aggregate *)self)->g.rec;
    recording_info info;
    PyObject *dict = PyDict_New();
    (void)ignored;
    recording_get_info(rec, &info);
    if (dict != NULL && dict_take(dict, "engine", text_or_replaced(info.engine)) &&
        dict_take(dict, "jvm_version", text_or_replaced(info.jvm_version)) &&
        dict_take(dict, "java_args", text_or_replaced(info.java_args)) &&
        dict_take(dict, "start_ns", PyLong_FromLongLong(info.start_ns)) &&
        dict_take(dict, "end_ns", PyLong_FromLongLong(info.end_ns)) && add_intervals(dict, &info) &&
        add_counts(dict, &info) && add_notes(dict, rec) && add_unread(dict, rec))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *aggregate_tree(PyObject *self, PyObject *arguments)
{
    return tree_new(self, &((aggregate *)self)->g, arguments);
}

static PyObject *aggregate_collapsed(PyObject *self, PyObject *arguments)
{
    return tree_collapsed(self, &((aggregate *)self)->g, arguments);
}

/* ---- making one ---- */

static PyMethodDef aggregate_methods[] = {
    {"totals", aggregate_totals, METH_NOARGS,
     "A list of (type, unit, events, raw_value, value, stacks)."},
    {"top", aggregate_top, METH_VARARGS, "top(type, limit): a list of (frame, self, total)."},
    {"threads", aggregate_threads, METH_VARARGS,
     "threads(type): a list of (name, pool, os_tid, java_tid, value, samples)."},
    {"times", aggregate_times, METH_NOARGS, "A list of (type, pool, [value by bucket])."},
    {"info", aggregate_info, METH_NOARGS, "What the inputs were, as a dict."},
    {"tree", aggregate_tree, METH_VARARGS,
     "tree(type, lines, threads, inverted, max_nodes, min_total): a Tree."},
    {"collapsed", aggregate_collapsed, METH_VARARGS,
     "collapsed(type, lines, threads): collapsed stacks as bytes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot aggregate_slots[] = {
    {Py_tp_dealloc, (void *)aggregate_dealloc},
    {Py_tp_methods, aggregate_methods},
    {Py_tp_doc, (void *)"A profile added up by type, thread and stack."},
    {0, NULL},
};

static PyType_Spec aggregate_spec = {
    .name = "hotstack._native.Aggregate",
    .basicsize = sizeof(aggregate),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = aggregate_slots,
};

static bool parse(gather_options *o, histogram *times, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"normalise", "group",     "from_ns", "to_ns",     "states",
                            "thread",    "windows",   "threads", "max_bytes", "progress",
                            "origin_ns", "bucket_ns", "buckets", "by_pool",   NULL};
    int normalise = 1;
    int windows = 0;
    int by_pool = 0;
    long long from_ns = INT64_MIN;
    long long to_ns = INT64_MAX;
    long long origin_ns = 0;
    unsigned long long max_bytes = UINT64_C(16) << 30;
    unsigned long long bucket_ns = 0;
    unsigned long long buckets = 0;
    *o = (gather_options){.thread_filter = Py_None, .progress = Py_None, .threads = 1};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$piLLIOpIKOLKKp", names, &normalise,
                                     &o->group, &from_ns, &to_ns, &o->states, &o->thread_filter,
                                     &windows, &o->threads, &max_bytes, &o->progress, &origin_ns,
                                     &bucket_ns, &buckets, &by_pool))
        return false;
    o->normalise = normalise != 0;
    o->windows = windows != 0;
    o->from_ns = from_ns;
    o->to_ns = to_ns;
    o->max_bytes = max_bytes;
    *times = (histogram){.origin_ns = origin_ns,
                         .bucket_ns = buckets > 0 ? bucket_ns : 0,
                         .buckets = buckets,
                         .by_pool = by_pool != 0};
    return true;
}

typedef struct gather_work {
    work base;
    gathered g;
    inputs *in;
    gather_options options;
} gather_work;

static int run_gather(work *w, failure *f)
{
    gather_work *g = (gather_work *)w;
    return gather_run(w, &g->g, g->in, &g->options, f);
}

static void clear_gather(work *w)
{
    gather_work *g = (gather_work *)w;
    gather_free(&g->g);
    inputs_release(g->in);
    Py_XDECREF(g->options.thread_filter);
    Py_XDECREF(g->options.progress);
}

PyObject *profile_new(inputs *in, PyObject *arguments, PyObject *keywords)
{
    gather_work *g = work_new(sizeof(*g), run_gather, clear_gather, NULL, NULL);
    if (g == NULL)
        return NULL;
    if (!parse(&g->options, &g->g.times, arguments, keywords)) {
        g->options = (gather_options){0};
        work_free(&g->base);
        return NULL;
    }
    g->in = inputs_share(in);
    Py_INCREF(g->options.thread_filter);
    Py_INCREF(g->options.progress);
    if (!work_do(&g->base))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(aggregate_type, Py_tp_alloc);
    aggregate *a = (aggregate *)alloc(aggregate_type, 0);
    if (a != NULL) {
        a->g = g->g;
        g->g = (gathered){0};
    }
    work_free(&g->base);
    return (PyObject *)a;
}

int profile_types_add(PyObject *module)
{
    aggregate_type = (PyTypeObject *)PyType_FromSpec(&aggregate_spec);
    if (aggregate_type == NULL)
        return -1;
    return PyModule_AddObjectRef(module, "Aggregate", (PyObject *)aggregate_type);
}
