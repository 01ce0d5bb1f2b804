/* SPDX-License-Identifier: Apache-2.0 */
/* Writes values of events as text. Needs no GIL. */
#ifndef HOTSTACK_VALUES_H
#define HOTSTACK_VALUES_H

#include "module/failure.h"
#include "tables/arrow.h"

/* How a value of a type is written. */
enum value_form {
    VALUE_SCALAR = 0, /* a number or string as it is */
    VALUE_CLASS,      /* java.lang.Class: "java.util.Map$Entry", "byte[]" */
    VALUE_METHOD,     /* jdk.types.Method: "java.lang.Object.wait" */
    VALUE_THREAD,     /* java.lang.Thread: its Java name, else its name in the system */
    VALUE_STACK,      /* jdk.types.StackTrace: methods from root to leaf with ';' between */
    VALUE_TREE        /* another struct, or an array: JSON */
};

/* Returns how values of a field are written, by the name of its type. */
enum value_form value_form_of(const jfr_field *field, const jfr_type *types);

/* Appends the value's text. Returns 1 with it, 0 when it is null or damaged, -1 without memory. */
int value_text(jfr_chunk *chunk, const jfr_variant *value, enum value_form form, bytes *out,
               failure *f);

#endif
