/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a chunk as numbers of their frames. */
#include <stdlib.h>

#include "cache.h"

bool recording__frames_init(recording_frames *f, const jfr_chunk *chunk, jfr_number_frame *number,
                            void *ctx)
{
    *f = (recording_frames){.chunk = chunk, .number = number, .ctx = ctx};
    return jfr_stacks_open(&f->stacks, chunk, number, ctx, NULL) == 0;
}

bool recording__frames_forget(recording_frames *f)
{
    jfr_stacks_close(f->stacks);
    f->stacks = NULL;
    return jfr_stacks_open(&f->stacks, f->chunk, f->number, f->ctx, NULL) == 0;
}

void recording__frames_free(recording_frames *f)
{
    jfr_stacks_close(f->stacks);
    free(f->numbers);
}

int recording__frames_read(recording_frames *f, uint32_t stack, size_t used, jfr_stack_ref *out,
                           bool *damaged)
{
    *damaged = false;
    for (;;) {
        jfr_error cause;
        uint32_t *free_numbers = f->room > used ? f->numbers + used : NULL;
        int rc = jfr_stacks_read(f->stacks, stack, free_numbers, (uint32_t)(f->room - used), out,
                                 &cause);
        if (rc == 1)
            return f->number_rc;
        if (rc < 0) {
            *out = (jfr_stack_ref){0};
            *damaged = true;
            return 0;
        }
        if (out->frame_count <= f->room - used)
            return 0;
        rc = recording__reserve(&f->numbers, &f->room, used + out->frame_count);
        if (rc != 0)
            return rc;
    }
}
