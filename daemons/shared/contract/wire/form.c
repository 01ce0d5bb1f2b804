/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/wire/form.h>

#include <string.h>

enum { DEPTH_MAX = 8, UNKNOWN_MAX = 64, FIELDS_MAX = 64 };
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* A position in the payload; `end` is the end of the message being read. */
typedef struct cursor {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    const char *problem;
} cursor;

static bool fail(cursor *c, const char *problem)
{
    c->problem = problem;
    return false;
}

static bool read_varint(cursor *c, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 70 && c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        *out |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0)
            return true;
    }
    return fail(c, "a varint does not end");
}

static bool skip(cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at))
        return fail(c, "a field reaches beyond its message");
    c->at += bytes;
    return true;
}

static unsigned wire_type_of(const ProtobufCFieldDescriptor *field)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return WIRE_BYTES;
    switch (field->type) {
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_64;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_32;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    default:
        return WIRE_VARINT;
    }
}

static bool skip_value(cursor *c, unsigned wire_type)
{
    uint64_t number;

    switch (wire_type) {
    case WIRE_VARINT:
        return read_varint(c, &number);
    case WIRE_64:
        return skip(c, 8);
    case WIRE_32:
        return skip(c, 4);
    case WIRE_BYTES:
        return read_varint(c, &number) && skip(c, number);
    default:
        return fail(c, "a group or an unknown wire type");
    }
}

static bool check_message(cursor *c, const ProtobufCMessageDescriptor *type, unsigned depth);

/* Checks a known field with content: a message is checked recursively, a text must not contain a
 * NUL. */
static bool check_content(cursor *c, const ProtobufCFieldDescriptor *field, unsigned depth)
{
    uint64_t length;

    if (!read_varint(c, &length))
        return false;
    const uint8_t *content = c->at;
    if (!skip(c, length))
        return false;
    if (field->type == PROTOBUF_C_TYPE_STRING && memchr(content, 0, (size_t)length) != NULL)
        return fail(c, "a text holds a NUL");
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    cursor inner = {c->start, content, content + length, NULL};
    if (check_message(&inner, field->descriptor, depth + 1))
        return true;
    c->at = inner.at;
    return fail(c, inner.problem);
}

static bool check_field(cursor *c, const ProtobufCMessageDescriptor *type, uint64_t tag,
                        uint64_t *seen, unsigned *unknown, unsigned depth)
{
    unsigned wire_type = (unsigned)(tag & 7);
    const ProtobufCFieldDescriptor *field =
        tag >> 3 <= UINT32_MAX ? protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3))
                               : NULL;

    if (field == NULL) {
        if (++*unknown > UNKNOWN_MAX)
            return fail(c, "a message has more than 64 unknown fields");
        return skip_value(c, wire_type);
    }
    uint64_t bit = 1ull << (field - type->fields);
    if ((*seen & bit) != 0)
        return fail(c, "a field occurs twice in a message");
    *seen |= bit;
    if (wire_type != wire_type_of(field))
        return fail(c, "a field has the wrong wire type, or is not packed");
    return wire_type == WIRE_BYTES ? check_content(c, field, depth) : skip_value(c, wire_type);
}

static bool check_message(cursor *c, const ProtobufCMessageDescriptor *type, unsigned depth)
{
    uint64_t seen = 0, tag;
    unsigned unknown = 0;

    if (depth > DEPTH_MAX || type->n_fields > FIELDS_MAX)
        return fail(c, "messages are nested too deep");
    while (c->at < c->end) {
        if (!read_varint(c, &tag))
            return false;
        if (tag >> 3 == 0)
            return fail(c, "a field has the number 0");
        if (!check_field(c, type, tag, &seen, &unknown, depth))
            return false;
    }
    return true;
}

bool wire_check(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t length,
                const char **problem, size_t *offset)
{
    if (length == 0)
        return true;
    cursor c = {data, data, data + length, NULL};
    if (check_message(&c, type, 0))
        return true;
    *problem = c.problem;
    *offset = (size_t)(c.at - c.start);
    return false;
}
