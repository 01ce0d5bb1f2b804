/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and CPU limits of a process, from its control groups. */
#ifndef ATTACH_CGROUP_LIMITS_H
#define ATTACH_CGROUP_LIMITS_H

#include "files/text_impl.h"
#include <attach/jvm.h>

/*
 * Fills memory_limit, memory_used and cpu_millis with the smallest limit from the process's own
 * group up to the top, in version 1, 2 and hybrid hierarchies mounted at the options' cgroup_root.
 * A container may see another part of the tree, in which nothing is found. The limits are then
 * those that the target sees below its own root, unless its mountinfo has a file system there that
 * could hang. cgroup = the text of /proc/PID/cgroup; root_fd may be -1.
 */
void attach__cgroup_limits(attach_jvm *out, attach__span cgroup, const attach_options *options,
                           attach__span mountinfo, int root_fd);

/* Parses "max" or a number; version 1 writes a huge number for "no limit". False when it is
 * neither. */
bool attach__limit_bytes(attach__span text, uint64_t *out);
/* Parses version 2's cpu.max, "<quota or max> <period>", in thousandths of a core; 0 = no limit. */
bool attach__limit_cpu(attach__span text, uint32_t *out);

#endif
