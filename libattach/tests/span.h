/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of texts say often. */
#ifndef ATTACH_TESTS_SPAN_H
#define ATTACH_TESTS_SPAN_H

#include <string.h>

#include "files/text_impl.h"

/* The text as a span. */
static inline attach__span span(const char *text)
{
    return attach__span_of(text, strlen(text));
}

#endif
