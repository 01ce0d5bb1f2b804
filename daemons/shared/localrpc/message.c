/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on messages that need no codec. */
#include <localrpc/message.h>

#include <stdlib.h>
#include <string.h>

void local_answer_clear(local_answer *answer)
{
    free(answer->jvms);
    free(answer->data);
    *answer = (local_answer){0};
}

bool local_identity_equal(const local_identity *a, const local_identity *b)
{
    return a->host_pid == b->host_pid && a->start_ticks == b->start_ticks &&
           strcmp(a->boot_id, b->boot_id) == 0;
}
