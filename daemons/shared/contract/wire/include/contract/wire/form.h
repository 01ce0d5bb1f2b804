/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the wire form that docs/formats/ingest.md requires, in one pass over the tags before
 * anything is unpacked: each field number once in a message, repeated scalars packed, no groups, at
 * most 64 unknown fields, strings without NUL. Pure; any thread.
 */
#ifndef CONTRACT_WIRE_FORM_H
#define CONTRACT_WIRE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* Returns true if the form is valid; else *problem is a static sentence and *offset its
 * position. */
bool wire_check(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t length,
                const char **problem, size_t *offset);

#endif
