/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "module/errors.h"
#include "module/work.h"
#include "rows.h"

static PyTypeObject *batch_type;
static PyTypeObject *batches_type;

/* ---- capsules ---- */

#define CAPSULE(kind, struct_name, capsule_name)                                                   \
    static void free_##kind(PyObject *capsule)                                                     \
    {                                                                                              \
        struct struct_name *held = PyCapsule_GetPointer(capsule, capsule_name);                    \
        if (held != NULL && held->release != NULL)                                                 \
            held->release(held);                                                                   \
        free(held);                                                                                \
    }                                                                                              \
    static PyObject *new_##kind(struct struct_name *held)                                          \
    {                                                                                              \
        PyObject *capsule = PyCapsule_New(held, capsule_name, free_##kind);                        \
        if (capsule == NULL) {                                                                     \
            held->release(held);                                                                   \
            free(held);                                                                            \
        }                                                                                          \
        return capsule;                                                                            \
    }

CAPSULE(schema, ArrowSchema, "arrow_schema")
CAPSULE(array, ArrowArray, "arrow_array")
CAPSULE(stream, ArrowArrayStream, "arrow_array_stream")

/* ---- Batch ---- */

typedef struct batch {
    PyObject_HEAD struct ArrowSchema schema;
    struct ArrowArray array; /* release is NULL once it was exported */
    Py_ssize_t rows;
} batch;

static void batch_dealloc(PyObject *self)
{
    batch *b = (batch *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (b->schema.release != NULL)
        b->schema.release(&b->schema);
    if (b->array.release != NULL)
        b->array.release(&b->array);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

static Py_ssize_t batch_length(PyObject *self)
{
    return ((batch *)self)->rows;
}

static PyObject *batch_rows(PyObject *self, PyObject *ignored)
{
    const batch *b = (const batch *)self;
    (void)ignored;
    if (b->array.release == NULL)
        return errors_usage("The batch was handed over to another library.");
    return rows_of(&b->schema, &b->array);
}

/* Moves the array into its capsule; the batch keeps the schema. */
static PyObject *export_array(batch *b)
{
    struct ArrowArray *array = malloc(sizeof(*array));
    if (array == NULL)
        return PyErr_NoMemory();
    *array = b->array;
    b->array.release = NULL;
    return new_array(array);
}

static PyObject *export_schema(const batch *b)
{
    struct ArrowSchema *schema = malloc(sizeof(*schema));
    if (schema == NULL || schema_copy(&b->schema, schema) != 0) {
        free(schema);
        return PyErr_NoMemory();
    }
    return new_schema(schema);
}

static PyObject *batch_arrow(PyObject *self, PyObject *arguments)
{
    batch *b = (batch *)self;
    PyObject *wanted = NULL;
    if (!PyArg_ParseTuple(arguments, "|O", &wanted))
        return NULL;
    if (b->array.release == NULL)
        return errors_usage("The batch was handed over to another library already.");
    PyObject *schema = export_schema(b);
    PyObject *array = schema != NULL ? export_array(b) : NULL;
    PyObject *both = array != NULL ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return both;
}

static PyMethodDef batch_methods[] = {
    {"rows", batch_rows, METH_NOARGS, "The rows as a list of dicts; text as str, times as ns."},
    {"__arrow_c_array__", batch_arrow, METH_VARARGS,
     "The capsules of the Arrow C data interface. Once: the batch is empty then."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot batch_slots[] = {
    {Py_tp_dealloc, (void *)batch_dealloc},
    {Py_tp_methods, batch_methods},
    {Py_sq_length, (void *)batch_length},
    {Py_tp_doc, (void *)"Some rows of a table. Comes from iterating over Batches."},
    {0, NULL},
};

static PyType_Spec batch_spec = {
    .name = "hotstack._native.Batch",
    .basicsize = sizeof(batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = batch_slots,
};

static PyObject *new_batch(const table *t, struct ArrowArray *array)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(batch_type, Py_tp_alloc);
    batch *b = (batch *)alloc(batch_type, 0);
    if (b == NULL) {
        array->release(array);
        return NULL;
    }
    b->array = *array;
    b->rows = (Py_ssize_t)array->length;
    if (table_schema(t, &b->schema) != 0) {
        Py_DECREF((PyObject *)b);
        return PyErr_NoMemory();
    }
    return (PyObject *)b;
}

/* ---- reading ---- */

typedef struct read_work {
    work base;
    producer *source;
    struct ArrowArray array;
    int stream_rc; /* of run_stream, which does not fail itself */
    failure f;
} read_work;

static int run_next(work *w, failure *f)
{
    read_work *r = (read_work *)w;
    return producer_next(r->source, &r->array, f);
}

static int run_grow(work *w, failure *f)
{
    return producer_grow(((read_work *)w)->source, f);
}

static int run_stream(work *w, failure *ignored)
{
    read_work *r = (read_work *)w;
    (void)ignored;
    r->stream_rc = producer_next(r->source, &r->array, &r->f);
    return 0;
}

static void clear_read(work *w)
{
    read_work *r = (read_work *)w;
    producer_free(r->source);
    if (r->array.release != NULL)
        r->array.release(&r->array);
}

/* ---- the Arrow stream ---- */

/* A stream that a reader reads on any thread of its own, one call at a time, without the GIL. */
typedef struct stream {
    producer *source;
    failure f;
    char error[600];
} stream;

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    const stream *s = self->private_data;
    return s->source != NULL ? table_schema(&s->source->rows, out) : EIO;
}

/* Handles an exception of a signal's handler, which cannot pass through another library: after an
 * interrupt Python gets the signal again, for when that library returns. */
static void put_off(void)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) {
        PyErr_WriteUnraisable(NULL);
        return;
    }
    PyErr_Clear();
    PyErr_SetInterrupt();
}

/* As producer_next, but looks for signals. Needs the GIL. */
static int attended_next(stream *s, struct ArrowArray *out)
{
    read_work *r = work_new(sizeof(*r), run_stream, clear_read, NULL, NULL);
    if (r == NULL) {
        PyErr_Clear();
        return failure_nomem(&s->f);
    }
    r->source = s->source;
    s->source = NULL;
    if (!work_do(&r->base)) {
        put_off();
        return failure_set(&s->f, FAILURE_IO, "The reading was interrupted.");
    }
    s->source = r->source;
    s->f = r->f;
    *out = r->array;
    int rc = r->stream_rc;
    r->source = NULL;
    r->array.release = NULL;
    work_free(&r->base);
    return rc;
}

/* Reads the next batch. Only the main thread handles signals; other threads do not wait for the
 * GIL, because the thread that waits for them may hold it. */
static int read_stream(stream *s, struct ArrowArray *out)
{
    if (gettid() != getpid() || !Py_IsInitialized())
        return producer_next(s->source, out, &s->f);
    PyGILState_STATE state = PyGILState_Ensure();
    int rc = attended_next(s, out);
    PyGILState_Release(state);
    return rc;
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    static const int numbers[] = {
        [FAILURE_IO] = EIO,       [FAILURE_FORMAT] = EINVAL, [FAILURE_LIMIT] = E2BIG,
        [FAILURE_USAGE] = EINVAL, [FAILURE_NOMEM] = ENOMEM,
    };
    stream *s = self->private_data;
    if (s->source == NULL)
        return EIO;
    int rc = read_stream(s, out);
    if (rc == 0)
        *out = (struct ArrowArray){0};
    return rc < 0 ? numbers[s->f.what] : 0;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    if (s->f.what == FAILURE_NONE)
        return NULL;
    (void)snprintf(s->error, sizeof(s->error), "%s%sat byte %llu: %s", s->f.input,
                   s->f.input[0] != '\0' ? ": " : "", (unsigned long long)s->f.offset,
                   s->f.message);
    return s->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    producer_free(s->source);
    free(s);
    self->release = NULL;
}

/* Returns a capsule with a stream that owns the producer. */
static PyObject *stream_capsule(producer *source)
{
    stream *s = calloc(1, sizeof(*s));
    struct ArrowArrayStream *held = malloc(sizeof(*held));
    if (s == NULL || held == NULL) {
        free(s);
        free(held);
        producer_free(source);
        return PyErr_NoMemory();
    }
    s->source = source;
    *held = (struct ArrowArrayStream){.get_schema = stream_schema,
                                      .get_next = stream_next,
                                      .get_last_error = stream_error,
                                      .release = stream_release,
                                      .private_data = s};
    return new_stream(held);
}

/* ---- Batches ---- */

typedef struct batches {
    PyObject_HEAD producer *source; /* NULL once it was exported, or while it is read */
    bool busy;                      /* a thread reads it in C */
    bool grows;                     /* its rows are collected for `take` */
} batches;

static void batches_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    producer_free(((batches *)self)->source);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

/* Returns whether it can be read, else sets an exception. C works without the GIL, so another
 * thread could use it at the same time. */
static bool is_free(const batches *b)
{
    if (b->busy)
        (void)errors_usage("Another thread reads this table's batches.");
    else if (b->source == NULL)
        (void)errors_usage("The table's batches have ended: by an exception, or because they were "
                           "handed over to another library.");
    return !b->busy && b->source != NULL;
}

/* Returns whether its rows still come in batches. */
static bool gives_batches(const batches *b)
{
    if (!is_free(b))
        return false;
    if (b->grows)
        (void)errors_usage("The rows are being gathered: take them.");
    return !b->grows;
}

/* Lends the source to a work, and takes it back. Returns -1 with an exception set: the batches have
 * ended. */
static int read_some(batches *b, int (*run)(work *, failure *), struct ArrowArray *array)
{
    read_work *r = work_new(sizeof(*r), run, clear_read, NULL, NULL);
    if (r == NULL)
        return -1;
    r->source = b->source;
    b->source = NULL;
    b->busy = true;
    bool good = work_do(&r->base);
    b->busy = false;
    if (!good)
        return -1;
    b->source = r->source;
    *array = r->array;
    r->source = NULL;
    r->array.release = NULL;
    int rc = r->base.rc;
    work_free(&r->base);
    return rc;
}

static PyObject *batches_next(PyObject *self)
{
    batches *b = (batches *)self;
    struct ArrowArray array;
    if (!gives_batches(b))
        return NULL;
    return read_some(b, run_next, &array) == 1 ? new_batch(&b->source->rows, &array) : NULL;
}

static PyObject *batches_grow(PyObject *self, PyObject *ignored)
{
    batches *b = (batches *)self;
    struct ArrowArray array;
    (void)ignored;
    if (!is_free(b))
        return NULL;
    b->grows = true;
    int rc = read_some(b, run_grow, &array);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static PyObject *batches_take(PyObject *self, PyObject *ignored)
{
    batches *b = (batches *)self;
    (void)ignored;
    if (!is_free(b))
        return NULL;
    if (!b->grows)
        return errors_usage("No rows were gathered: grow comes first.");
    table *t = &b->source->rows;
    Py_ssize_t rows = (Py_ssize_t)table_rows(t);
    PyObject *columns = memory_columns(t);
    t->bare_rows = 0;
    PyObject *both = columns != NULL ? Py_BuildValue("(nO)", rows, columns) : NULL;
    Py_XDECREF(columns);
    return both;
}

static PyObject *batches_stream(PyObject *self, PyObject *ignored)
{
    batches *b = (batches *)self;
    (void)ignored;
    if (!gives_batches(b))
        return NULL;
    producer *source = b->source;
    b->source = NULL;
    return stream_capsule(source);
}

static PyObject *batches_schema(PyObject *self, PyObject *ignored)
{
    struct ArrowSchema *schema;
    (void)ignored;
    if (!is_free((batches *)self))
        return NULL;
    schema = malloc(sizeof(*schema));
    if (schema == NULL || table_schema(&((batches *)self)->source->rows, schema) != 0) {
        free(schema);
        return PyErr_NoMemory();
    }
    return new_schema(schema);
}

static PyObject *batches_columns(PyObject *self, PyObject *ignored)
{
    static const char *const kinds[] = {
        "bool", "int64", "uint64", "float64", "timestamp[ns, UTC]", "duration[ns]", "text"};
    (void)ignored;
    if (!is_free((batches *)self))
        return NULL;
    const table *t = &((batches *)self)->source->rows;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < t->count; i++) {
        PyObject *pair = Py_BuildValue("(ss)", t->columns[i].name, kinds[t->columns[i].kind]);
        if (pair == NULL || PyList_Append(list, pair) != 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *batches_done(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    if (!is_free((batches *)self))
        return NULL;
    return PyLong_FromUnsignedLongLong(walk_done(&((batches *)self)->source->w));
}

static PyObject *batches_loss(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    if (!is_free((batches *)self))
        return NULL;
    const walk *w = &((batches *)self)->source->w;
    return Py_BuildValue("(KKK)", (unsigned long long)w->chunks_lost,
                         (unsigned long long)w->chunks_partial, (unsigned long long)w->bytes_lost);
}

static PyMethodDef batches_methods[] = {
    {"stream", batches_stream, METH_NOARGS,
     "A capsule of the Arrow C stream interface with what was not read yet. Once."},
    {"grow", batches_grow, METH_NOARGS,
     "Gathers some rows more; False when there are no more. Then the table gives no batches."},
    {"take", batches_take, METH_NOARGS,
     "The gathered rows: how many, and (values, validity, words) of each column, in memory that "
     "may be written."},
    {"schema", batches_schema, METH_NOARGS, "A capsule of the table's Arrow schema."},
    {"columns", batches_columns, METH_NOARGS, "A list of (name, kind)."},
    {"loss", batches_loss, METH_NOARGS,
     "(chunks lost, chunks partly read, bytes lost) of the inputs that lie behind the reader."},
    {"done", batches_done, METH_NOARGS, "How many bytes of the inputs lie behind the reader."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot batches_slots[] = {
    {Py_tp_dealloc, (void *)batches_dealloc},
    {Py_tp_methods, batches_methods},
    {Py_tp_iter, (void *)PyObject_SelfIter},
    {Py_tp_iternext, (void *)batches_next},
    {Py_tp_doc, (void *)"A table's rows, read as they are asked for: an iterator of Batch."},
    {0, NULL},
};

static PyType_Spec batches_spec = {
    .name = "hotstack._native.Batches",
    .basicsize = sizeof(batches),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = batches_slots,
};

PyObject *batches_new(producer *p)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(batches_type, Py_tp_alloc);
    batches *b = (batches *)alloc(batches_type, 0);
    if (b == NULL) {
        producer_free(p);
        return NULL;
    }
    b->source = p;
    return (PyObject *)b;
}

int table_types_add(PyObject *module)
{
    batch_type = (PyTypeObject *)PyType_FromSpec(&batch_spec);
    batches_type = (PyTypeObject *)PyType_FromSpec(&batches_spec);
    if (batch_type == NULL || batches_type == NULL)
        return -1;
    if (memory_type_make() != 0 ||
        PyModule_AddObjectRef(module, "Batch", (PyObject *)batch_type) != 0)
        return -1;
    return PyModule_AddObjectRef(module, "Batches", (PyObject *)batches_type);
}
