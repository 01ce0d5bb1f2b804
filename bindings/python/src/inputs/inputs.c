/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unpack.h"

struct inputs {
    atomic_size_t users;
    pthread_mutex_t lock; /* of the unpacked inputs */
    size_t keep_bytes;    /* room that is left for them */
    size_t count;
    bool unfinished;
    bool has_views;
    input items[];
};

/* ---- the list ---- */

static bool take_path(input *to, PyObject *item)
{
    struct stat status;
    PyObject *raw = PyUnicode_EncodeFSDefault(item);
    char *text;
    Py_ssize_t size;
    if (raw == NULL || PyBytes_AsStringAndSize(raw, &text, &size) != 0) {
        Py_XDECREF(raw);
        return false;
    }
    if (strlen(text) != (size_t)size)
        PyErr_SetString(PyExc_ValueError, "embedded null byte in a path");
    else if ((to->path = strdup(text)) == NULL)
        PyErr_NoMemory();
    Py_DECREF(raw);
    if (to->path != NULL && stat(to->path, &status) == 0)
        to->size = (uint64_t)status.st_size;
    return to->path != NULL;
}

/* Copies the input's name; bytes of a path that are no text are replaced. */
static bool take_name(input *to, PyObject *item)
{
    PyObject *text = PyUnicode_AsEncodedString(item, "utf-8", "replace");
    const char *bytes_of = text != NULL ? PyBytes_AsString(text) : NULL;
    if (bytes_of != NULL && (to->name = strdup(bytes_of)) == NULL)
        (void)PyErr_NoMemory();
    Py_XDECREF(text);
    return to->name != NULL;
}

static bool take_item(inputs *in, PyObject *item)
{
    input *to = &in->items[in->count];
    if (PyUnicode_Check(item)) {
        if (!take_path(to, item) || !take_name(to, item)) {
            free(to->path);
            return false;
        }
    } else {
        if (PyObject_GetBuffer(item, &to->view, PyBUF_SIMPLE) != 0)
            return false;
        to->size = (uint64_t)to->view.len;
        in->has_views = true;
    }
    in->count++;
    return true;
}

inputs *inputs_new(PyObject *sequence, bool unfinished, size_t keep_bytes)
{
    Py_ssize_t count = PySequence_Size(sequence);
    if (count < 0)
        return NULL;
    inputs *in = calloc(1, sizeof(*in) + (size_t)count * sizeof(in->items[0]));
    if (in == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&in->users, 1);
    (void)pthread_mutex_init(&in->lock, NULL);
    in->unfinished = unfinished;
    in->keep_bytes = keep_bytes;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        bool taken = item != NULL && take_item(in, item);
        Py_XDECREF(item);
        if (!taken) {
            inputs_release(in);
            return NULL;
        }
    }
    return in;
}

inputs *inputs_share(inputs *in)
{
    atomic_fetch_add(&in->users, 1);
    return in;
}

/* Releases the buffers. Any thread can drop an Arrow stream, also while the interpreter ends. */
static void release_views(inputs *in)
{
    if (!in->has_views || !Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    for (size_t i = 0; i < in->count; i++)
        if (in->items[i].path == NULL)
            PyBuffer_Release(&in->items[i].view);
    PyGILState_Release(state);
}

void inputs_release(inputs *in)
{
    if (in == NULL || atomic_fetch_sub(&in->users, 1) != 1)
        return;
    release_views(in);
    for (size_t i = 0; i < in->count; i++) {
        free(in->items[i].path);
        free(in->items[i].name);
        bytes_free(&in->items[i].plain);
    }
    (void)pthread_mutex_destroy(&in->lock);
    free(in);
}

size_t inputs_count(const inputs *in)
{
    return in->count;
}

const input *inputs_at(const inputs *in, size_t index)
{
    return &in->items[index];
}

uint64_t inputs_bytes(const inputs *in)
{
    uint64_t total = 0;
    for (size_t i = 0; i < in->count; i++)
        total += in->items[i].size;
    return total;
}

bool inputs_unfinished(const inputs *in)
{
    return in->unfinished;
}

void inputs_name(const inputs *in, size_t index, char name[INPUT_NAME])
{
    const char *known = in->items[index].name;
    if (known != NULL && strlen(known) < INPUT_NAME)
        (void)snprintf(name, INPUT_NAME, "%s", known);
    else if (known != NULL)
        (void)snprintf(name, INPUT_NAME, "file %zu", index);
    else
        (void)snprintf(name, INPUT_NAME, "memory %zu", index);
}

void inputs_blame(const inputs *in, size_t index, failure *f)
{
    const char *path = in->items[index].path;
    if (path != NULL)
        (void)snprintf(f->input, sizeof(f->input), "%s", path);
    else if (in->count > 1)
        (void)snprintf(f->input, sizeof(f->input), "input %zu", index);
}

/* ---- opening ---- */

/*
 * Unpacks an input if it is packed. Leaves it to libjfr when it is damaged or too large to be kept.
 */
static void look(inputs *in, input *item)
{
    bool kept = item->path != NULL
                    ? unpack_file(&item->plain, item->path, in->keep_bytes)
                    : unpack(&item->plain, item->view.buf, (size_t)item->view.len, in->keep_bytes);
    if (kept)
        in->keep_bytes -= item->plain.size;
    item->looked = true;
}

bool inputs_memory(inputs *in, size_t index, const void **data, size_t *size)
{
    input *item = &in->items[index];
    (void)pthread_mutex_lock(&in->lock);
    if (!item->looked)
        look(in, item);
    (void)pthread_mutex_unlock(&in->lock);
    if (item->plain.data == NULL && item->path != NULL)
        return false;
    *data = item->plain.data != NULL ? item->plain.data : item->view.buf;
    *size = item->plain.data != NULL ? item->plain.size : (size_t)item->view.len;
    return true;
}

int inputs_open(inputs *in, size_t index, const jfr_options *options, jfr_file **out, failure *f)
{
    const void *data;
    size_t size;
    jfr_error cause;
    int rc = inputs_memory(in, index, &data, &size)
                 ? jfr_open_mem(out, data, size, options, &cause)
                 : jfr_open_file(out, in->items[index].path, options, &cause);
    if (rc == 0)
        return 0;
    *out = NULL;
    inputs_blame(in, index, f);
    return failure_jfr(f, &cause);
}

/* ---- the walk ---- */

void walk_begin(walk *w, inputs *in)
{
    *w = (walk){.in = inputs_share(in), .inherit = JFR_INTERVALS_INIT};
}

static int open_next(walk *w, failure *f)
{
    jfr_options options = JFR_OPTIONS_INIT;
    options.flags = w->in->unfinished ? JFR_WALK_UNFINISHED : 0;
    options.inherit = &w->inherit;
    return inputs_open(w->in, w->index, &options, &w->file, f);
}

/* Adds the losses of the open input. */
static void close_input(walk *w)
{
    jfr_loss loss;
    jfr_file_loss(w->file, &loss);
    w->chunks_whole += loss.chunks_whole;
    w->chunks_partial += loss.chunks_partial;
    w->chunks_lost += loss.chunks_lost;
    w->bytes_lost += loss.bytes_lost;
    w->recorder_samples += loss.recorder_samples;
    w->recorder_bytes += loss.recorder_bytes;
    for (size_t i = 0; i < loss.record_count && w->loss_count < WALK_LOSSES; i++)
        w->losses[w->loss_count++] = (walk_loss){loss.records[i], w->index};
    jfr_close(w->file);
    w->file = NULL;
    w->chunk = NULL;
    w->before += w->in->items[w->index].size;
    w->index++;
}

int walk_next(walk *w, failure *f)
{
    jfr_error cause;
    for (;;) {
        if (w->chunk != NULL && jfr_chunk_intervals(w->chunk, &w->inherit, NULL) != 0)
            return failure_set(f, FAILURE_USAGE, "The chunk's intervals cannot be read.");
        if (w->file == NULL && w->index == w->in->count)
            return 0;
        if (w->file == NULL && open_next(w, f) != 0)
            return -1;
        int rc = jfr_next_chunk(w->file, &w->chunk, &cause);
        if (rc == 1)
            return 1;
        w->chunk = NULL;
        if (rc < 0) {
            inputs_blame(w->in, w->index, f);
            return failure_jfr(f, &cause);
        }
        close_input(w);
    }
}

uint64_t walk_done(const walk *w)
{
    uint64_t inside = w->chunk != NULL ? jfr_chunk_get_info(w->chunk)->offset : 0;
    /* Offsets in a packed input count unpacked bytes, so they can pass its size. */
    if (w->index < w->in->count && inside > w->in->items[w->index].size)
        inside = w->in->items[w->index].size;
    return w->before + inside;
}

void walk_end(walk *w)
{
    jfr_close(w->file);
    inputs_release(w->in);
    *w = (walk){0};
}
