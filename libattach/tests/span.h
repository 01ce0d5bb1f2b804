/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of texts. */
#ifndef ATTACH_TESTS_SPAN_H
#define ATTACH_TESTS_SPAN_H

#include <string.h>

#include "files/text_impl.h"

/* Returns the text as a span. */
static inline attach__span span(const char *text)
{
    return attach__span_of(text, strlen(text));
}

#endif
