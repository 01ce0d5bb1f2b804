/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat (proc(5)): state and start time. The command name may hold anything, also ')'. */
#ifndef ATTACH_PROC_STAT_H
#define ATTACH_PROC_STAT_H

#include "files/text_impl.h"
#include <attach/error.h>

typedef struct attach__stat {
    char state;           /* R S D T t Z X ...; X also while it exits (PF_EXITING) */
    uint64_t start_ticks; /* field 22 */
} attach__stat;

int attach__stat_parse(attach__stat *out, attach__span text, attach_error *err);

/* Return whether the process will not answer: it is stopped or traced, or it is gone. */
bool attach__state_is_stopped(char state);
bool attach__state_is_dead(char state);

#endif
