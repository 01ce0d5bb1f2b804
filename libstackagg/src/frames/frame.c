/* SPDX-License-Identifier: Apache-2.0 */
#include "frames/frame_impl.h"

#include <stdlib.h>

#include "fail_impl.h"
#include "frames/id_impl.h"
#include "frames/normalise_impl.h"
#include "frames/utf8_impl.h"

bool sagg__kind_known(uint8_t kind)
{
    return kind <= SAGG_UNKNOWN;
}

bool sagg__version_known(int version)
{
    return version == SAGG_NORMALISE_NONE || version == SAGG_NORMALISE_V1;
}

static int check(const sagg_frame *frames, size_t count, int version, sagg_error *err)
{
    if (!sagg__version_known(version))
        return sagg__fail(err, SAGG_ERR_USAGE, 0, "Normaliser version %d is not known: use 0 or 1.",
                          version);
    for (size_t i = 0; i < count; i++)
        if (!sagg__kind_known(frames[i].kind))
            return sagg__fail(err, SAGG_ERR_USAGE, 0,
                              "Frame %zu has the unknown kind %u: use 0 to 4.", i, frames[i].kind);
    return 0;
}

int sagg_stack_id_of_frame_ids(sagg_stack_id *out, const uint64_t *frame_ids, size_t count,
                               int version, sagg_error *err)
{
    int rc = check(NULL, 0, version, err);
    if (rc == 0)
        sagg__id_of_frame_ids(out, frame_ids, NULL, count, version);
    return rc;
}

size_t sagg__frame_room(const sagg_frame *frame)
{
    return sagg__clean_room(frame->class_name.size) + sagg__clean_room(frame->method.size);
}

void sagg__frame_prepare(sagg_frame *out, char *room, const sagg_frame *in, int version)
{
    *out = *in;
    char *class_name = room;
    size_t class_size = sagg__clean(class_name, in->class_name.data, in->class_name.size);
    char *method = room + class_size;
    size_t method_size = sagg__clean(method, in->method.data, in->method.size);
    if (version != SAGG_NORMALISE_NONE && in->kind == SAGG_JAVA)
        class_size = sagg__normalise_class(class_name, class_size);
    if (version != SAGG_NORMALISE_NONE && in->kind != SAGG_JAVA)
        method_size = sagg__normalise_symbol(method, method_size);
    out->class_name = (sagg_str){class_name, class_size};
    out->method = (sagg_str){method, method_size};
}

int sagg_frame_normalise(sagg_frame *out, char **storage, const sagg_frame *in, int version,
                         sagg_error *err)
{
    int rc = check(in, 1, version, err);
    if (rc != 0)
        return rc;
    size_t names = sagg__frame_room(in);
    char *room = malloc(names + sagg__clean_room(in->file.size) + 1);
    if (room == NULL)
        return sagg__no_memory(err);
    sagg__frame_prepare(out, room, in, version);
    out->file.data = room + names;
    out->file.size = sagg__clean(room + names, in->file.data, in->file.size);
    *storage = room;
    return 0;
}

/* Returns the most bytes that any of the frames needs. */
static size_t room_for_any(const sagg_frame *frames, size_t count)
{
    size_t most = 1;
    for (size_t i = 0; i < count; i++) {
        size_t room = sagg__frame_room(&frames[i]);
        most = room > most ? room : most;
    }
    return most;
}

int sagg_stack_id_of(sagg_stack_id *out, const sagg_frame *frames, size_t count, int version,
                     sagg_error *err)
{
    int rc = check(frames, count, version, err);
    if (rc != 0)
        return rc;
    size_t room = room_for_any(frames, count);
    size_t bytes;
    if (__builtin_mul_overflow(count, (size_t)8, &bytes) ||
        __builtin_add_overflow(bytes, room + SAGG__ID_PREFIX, &bytes))
        return sagg__no_memory(err);
    char *names = malloc(bytes);
    if (names == NULL)
        return sagg__no_memory(err);
    uint8_t *text = (uint8_t *)names + room;
    sagg__id_begin(text, version);
    for (size_t i = 0; i < count; i++) {
        sagg_frame frame;
        sagg__frame_prepare(&frame, names, &frames[i], version);
        uint64_t hash = sagg__method_hash(frame.kind, frame.class_name, frame.method);
        sagg__id_put(text, i, sagg__frame_id(hash, frame.line));
    }
    sagg__id_end(out, text, count);
    free(names);
    return 0;
}
