/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_FRAME_NAME_H
#define HOTSTACK_CLI_FRAME_NAME_H

#include <stackagg/frame.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/json_text.h"

/* Makes "class.method", which the caller frees; "(no name)", as in pages and collapsed text, for a
 * frame that has neither. Returns its length; without memory less than 0, and *out is NULL. */
static inline int frame_name(char **out, const sagg_frame *frame)
{
    bool is_nameless = frame->class_name.size == 0 && frame->method.size == 0;
    int size = is_nameless ? asprintf(out, "(no name)")
                           : asprintf(out, "%.*s%s%.*s", (int)frame->class_name.size,
                                      frame->class_name.data, frame->class_name.size > 0 ? "." : "",
                                      (int)frame->method.size, frame->method.data);
    if (size < 0)
        *out = NULL;
    return size;
}

/* Prints the name, with characters that could control a terminal replaced, and a mark if the frame
 * is not Java. */
static inline void frame_print(FILE *to, const sagg_frame *frame)
{
    static const char *const marks[] = {"", " [native]", " [jvm]", " [kernel]", ""};
    plain_text(to, frame->class_name);
    if (frame->class_name.size > 0)
        (void)fputc('.', to);
    plain_text(to, frame->method);
    (void)fputs(frame->kind < sizeof(marks) / sizeof(marks[0]) ? marks[frame->kind] : "", to);
}

#endif
