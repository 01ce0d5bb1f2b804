/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"

int import__push_frame(import__frames *list, const sagg_frame *frame, const char *what,
                       uint64_t number, recording_error *err)
{
    if (list->count == IMPORT_MAX_FRAMES)
        return import__fail(err, RECORDING_E_LIMIT, 0, "%s %" PRIu64 " has more than %u frames",
                            what, number, IMPORT_MAX_FRAMES);
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 256 : list->room * 2;
        sagg_frame *at = realloc(list->at, room * sizeof(*at));
        if (at == NULL)
            return import__fail(err, RECORDING_E_NOMEM, 0, "There is no memory left to read it.");
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = *frame;
    return 0;
}
