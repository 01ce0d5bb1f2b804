/* SPDX-License-Identifier: Apache-2.0 */
#include "census.h"

#include <stdlib.h>

#include "module/objects.h"
#include "module/work.h"

bool progress_call(PyObject *progress, uint64_t done, uint64_t total)
{
    if (PyErr_CheckSignals() != 0)
        return false;
    if (progress == NULL || progress == Py_None)
        return true;
    PyObject *result =
        PyObject_CallFunction(progress, "KK", (unsigned long long)done, (unsigned long long)total);
    Py_XDECREF(result);
    return result != NULL;
}

/* One pass over the inputs. `counts` has an entry for each type of the current chunk. */
typedef struct census {
    work base;
    const jfr_type *chunk_types; /* of the current chunk */
    uint32_t type_count;
    walk w;
    bool count_events;
    uint64_t *counts;
    uint64_t bad_events;
    PyObject *chunks, *types, *settings, *unread, *recording;
} census;

/* ---- without the GIL ---- */

static int count_events(census *c, uint32_t type_count, failure *f)
{
    jfr_events *events;
    jfr_event event;
    jfr_error cause;
    int rc = jfr_events_open(&events, c->w.chunk, NULL, &cause);
    if (rc < 0)
        return failure_jfr(f, &cause);
    while ((rc = jfr_events_next(events, &event, &cause)) == 1)
        if (event.type->index < type_count)
            c->counts[event.type->index]++;
    c->bad_events += jfr_events_bad(events);
    jfr_events_close(events);
    return rc == JFR_ERR_NOMEM ? failure_jfr(f, &cause) : 0;
}

/* Returns 1 with the next chunk's types, 0 at the end, -1 on failure. */
static int step(work *w, failure *f)
{
    census *c = (census *)w;
    jfr_error cause;
    int rc = walk_next(&c->w, f);
    if (rc != 1)
        return rc;
    if (jfr_chunk_types(c->w.chunk, &c->chunk_types, &c->type_count, &cause) < 0)
        return failure_jfr(f, &cause);
    free(c->counts);
    c->counts = calloc((size_t)c->type_count + 1, sizeof(*c->counts));
    if (c->counts == NULL)
        return failure_nomem(f);
    return !c->count_events || count_events(c, c->type_count, f) == 0 ? 1 : -1;
}

/* ---- types ---- */

static PyObject *annotation_texts(const jfr_annotation *list, uint32_t count, const char *name)
{
    const jfr_annotation *found = jfr_annotation_find(list, count, name);
    PyObject *texts = PyList_New(0);
    for (uint32_t i = 0; texts != NULL && found != NULL && i < found->value_count; i++)
        if (!list_take(texts, text_of_jfr(found->values[i].text)))
            Py_CLEAR(texts);
    return texts;
}

/* Returns a field's unit. Times and spans come in nanoseconds, whatever unit the recording uses. */
static PyObject *unit_of(const jfr_field *field)
{
    if (field->unit != JFR_UNIT_NONE)
        return PyUnicode_FromString("NANOSECONDS");
    return text_of_jfr(field->content_unit);
}

static PyObject *field_of(const jfr_field *field, const jfr_type *types)
{
    PyObject *dict = PyDict_New();
    jfr_str type = field->type != JFR_NONE ? types[field->type].name : (jfr_str){NULL, 0};
    if (dict != NULL && dict_take(dict, "name", text_of_jfr(field->name)) &&
        dict_take(dict, "type", text_of_jfr(type)) &&
        dict_take(dict, "label", text_of_jfr(field->label)) &&
        dict_take(dict, "description", text_of_jfr(field->description)) &&
        dict_take(dict, "unit", unit_of(field)) &&
        dict_take(dict, "is_array", PyBool_FromLong(field->is_array)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *fields_of(const jfr_type *type, const jfr_type *types)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < type->field_count; i++)
        if (!list_take(list, field_of(&type->fields[i], types)))
            Py_CLEAR(list);
    return list;
}

static PyObject *new_type(const jfr_type *type, const jfr_type *types)
{
    PyObject *dict = PyDict_New();
    if (dict != NULL && dict_take(dict, "name", text_of_jfr(type->name)) &&
        dict_take(dict, "label", text_of_jfr(type->label)) &&
        dict_take(dict, "description", text_of_jfr(type->description)) &&
        dict_take(
            dict, "categories",
            annotation_texts(type->annotations, type->annotation_count, "jdk.jfr.Category")) &&
        dict_take(dict, "fields", fields_of(type, types)) &&
        dict_take(dict, "events", PyLong_FromLong(0)))
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

/*
 * Adds a type of a chunk. Types of the same name in several chunks are one; the first describes it.
 */
static bool add_type(census *c, const jfr_type *type, const jfr_type *types)
{
    PyObject *name = text_of_jfr(type->name);
    PyObject *known = name != NULL ? PyDict_GetItemWithError(c->types, name) : NULL;
    bool good = name != NULL;
    if (good && known == NULL && !PyErr_Occurred()) {
        known = new_type(type, types);
        good = known != NULL && PyDict_SetItem(c->types, name, known) == 0;
        Py_XDECREF(known); /* the dict holds it */
    }
    good = good && known != NULL;
    if (good && c->counts[type->index] > 0) {
        PyObject *before = PyDict_GetItemString(known, "events");
        unsigned long long count = PyLong_AsUnsignedLongLong(before) + c->counts[type->index];
        good = dict_take(known, "events", PyLong_FromUnsignedLongLong(count));
    }
    Py_XDECREF(name);
    return good;
}

static bool add_types(census *c, const jfr_type *types, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (types[i].is_event && types[i].name.data != NULL && !add_type(c, &types[i], types))
            return false;
    return true;
}

/* ---- the rest of a chunk ---- */

static bool add_settings(census *c)
{
    size_t count = jfr_chunk_setting_count(c->w.chunk);
    for (size_t i = 0; i < count; i++) {
        jfr_setting setting;
        if (jfr_chunk_setting(c->w.chunk, i, &setting, NULL) != 0)
            continue;
        PyObject *event = text_of_jfr(setting.event);
        PyObject *name = text_of_jfr(setting.name);
        PyObject *value = text_of_jfr(setting.value);
        PyObject *tuple = event != NULL && name != NULL && value != NULL
                              ? PyTuple_Pack(3, event, name, value)
                              : NULL;
        Py_XDECREF(event);
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (!list_take(c->settings, tuple))
            return false;
    }
    return true;
}

static bool add_chunk(census *c)
{
    const jfr_chunk_info *i = jfr_chunk_get_info(c->w.chunk);
    return list_take(c->chunks,
                     Py_BuildValue("{s:n,s:K,s:K,s:L,s:K,s:O,s:K}", "input", (Py_ssize_t)c->w.index,
                                   "offset", (unsigned long long)i->offset, "size",
                                   (unsigned long long)i->size, "start_ns", (long long)i->start_ns,
                                   "duration_ns", (unsigned long long)i->duration_ns, "finished",
                                   i->finished ? Py_True : Py_False, "ticks_per_second",
                                   (unsigned long long)i->ticks_per_second));
}

/* Adds the unread events of a chunk to those of the chunks before it. */
static bool add_unread(census *c)
{
    size_t count;
    const jfr_unread *rows = jfr_chunk_unread(c->w.chunk, &count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].count == 0)
            continue;
        PyObject *name = text_of_jfr(rows[i].event);
        PyObject *before = name != NULL ? PyDict_GetItemWithError(c->unread, name) : NULL;
        PyObject *sum = NULL;
        if (name != NULL && !PyErr_Occurred())
            sum = PyLong_FromUnsignedLongLong(
                rows[i].count + (before != NULL ? PyLong_AsUnsignedLongLong(before) : 0));
        bool good = sum != NULL && PyDict_SetItem(c->unread, name, sum) == 0;
        Py_XDECREF(name);
        Py_XDECREF(sum);
        if (!good)
            return false;
    }
    return true;
}

/* Sets the facts about the recording from each chunk, since later chunks have the same facts or
 * more. */
static bool set_recording(census *c)
{
    const jfr_recording_info *i = jfr_chunk_recording(c->w.chunk);
    const char *producer = i->producer == JFR_PRODUCER_JDK ? "jdk" : "async-profiler";
    PyObject *to = c->recording;
    return dict_take(to, "producer", PyUnicode_FromString(producer)) &&
           dict_take(to, "profiler_version", text_of_jfr(i->profiler_version)) &&
           dict_take(to, "engine", text_of_jfr(i->engine)) &&
           dict_take(to, "event", text_of_jfr(i->event)) &&
           dict_take(to, "jvm_name", text_of_jfr(i->jvm_name)) &&
           dict_take(to, "jvm_version", text_of_jfr(i->jvm_version)) &&
           dict_take(to, "jvm_args", text_of_jfr(i->jvm_args)) &&
           dict_take(to, "java_args", text_of_jfr(i->java_args)) &&
           dict_take(to, "jvm_start_ms", PyLong_FromLongLong(i->jvm_start_ms)) &&
           dict_take(to, "pid", PyLong_FromLongLong(i->pid));
}

/* ---- loss ---- */

static PyObject *losses_of(const walk *w)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < w->loss_count; i++) {
        const walk_loss *l = &w->losses[i];
        if (!list_take(list, Py_BuildValue("{s:n,s:s,s:K,s:K,s:K}", "input", (Py_ssize_t)l->input,
                                           "reason", jfr_loss_reason_name(l->record.reason),
                                           "offset", (unsigned long long)l->record.offset, "size",
                                           (unsigned long long)l->record.bytes, "chunk",
                                           (unsigned long long)l->record.chunk)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *loss_of(const census *c)
{
    const walk *w = &c->w;
    PyObject *stretches = losses_of(w);
    if (stretches == NULL)
        return NULL;
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:N}", "chunks_whole", (unsigned long long)w->chunks_whole,
        "chunks_partial", (unsigned long long)w->chunks_partial, "chunks_lost",
        (unsigned long long)w->chunks_lost, "bytes_lost", (unsigned long long)w->bytes_lost,
        "bad_events", (unsigned long long)c->bad_events, "recorder_samples",
        (unsigned long long)w->recorder_samples, "recorder_bytes",
        (unsigned long long)w->recorder_bytes, "stretches", stretches);
}

/* ---- the pass ---- */

/* Runs the pass. Returns false with an exception set; `*c` is NULL then if it was freed. */
static bool run(census **c, PyObject *progress)
{
    uint64_t total = inputs_bytes((*c)->w.in);
    for (;;) {
        census *now = *c;
        if (!work_do(&now->base)) {
            *c = NULL;
            return false;
        }
        if (now->base.rc == 0)
            return progress_call(progress, total, total);
        if (!add_chunk(now) || !add_types(now, now->chunk_types, now->type_count) ||
            !add_settings(now) || !add_unread(now) || !set_recording(now) ||
            !progress_call(progress, walk_done(&now->w), total))
            return false;
    }
}

static PyObject *report(census *c)
{
    PyObject *loss = loss_of(c);
    if (loss == NULL)
        return NULL;
    return Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:N}", "chunks", c->chunks, "types", c->types,
                         "settings", c->settings, "unread", c->unread, "recording", c->recording,
                         "loss", loss);
}

static void clear_census(work *w)
{
    census *c = (census *)w;
    walk_end(&c->w);
    Py_XDECREF(c->chunks);
    Py_XDECREF(c->types);
    Py_XDECREF(c->settings);
    Py_XDECREF(c->unread);
    Py_XDECREF(c->recording);
    free(c->counts);
}

PyObject *census_of(inputs *in, bool events, PyObject *progress)
{
    census *c = work_new(sizeof(*c), step, clear_census, NULL, NULL);
    if (c == NULL)
        return NULL;
    PyObject *result = NULL;
    c->count_events = events;
    c->chunks = PyList_New(0);
    c->types = PyDict_New();
    c->settings = PyList_New(0);
    c->unread = PyDict_New();
    c->recording = PyDict_New();
    walk_begin(&c->w, in);
    if (c->chunks != NULL && c->types != NULL && c->settings != NULL && c->unread != NULL &&
        c->recording != NULL && run(&c, progress))
        result = report(c);
    if (c != NULL)
        work_free(&c->base);
    return result;
}
