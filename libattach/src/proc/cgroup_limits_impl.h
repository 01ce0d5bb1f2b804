/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and CPU limits of a process, from the control groups that hold it. */
#ifndef ATTACH_CGROUP_LIMITS_H
#define ATTACH_CGROUP_LIMITS_H

#include "files/text_impl.h"
#include <attach/jvm.h>

/*
 * Fills memory_limit, memory_used and cpu_millis: the smallest limit from the process's own group
 * up to the top, of version 1, 2 and hybrid hierarchies mounted at options' cgroup_root; where
 * nothing is found there (a container that sees another part of the tree), those that the target
 * itself sees below its root, unless its mountinfo puts a file system there that could hang us.
 * cgroup = the text of /proc/PID/cgroup; root_fd may be -1.
 */
void attach__cgroup_limits(attach_jvm *out, attach__span cgroup, const attach_options *options,
                           attach__span mountinfo, int root_fd);

/* "max" or a number; version 1 writes a huge number for "no limit". false when it is neither. */
bool attach__limit_bytes(attach__span text, uint64_t *out);
/* Version 2's cpu.max, "<quota or max> <period>", in thousandths of a core; 0 = no limit. */
bool attach__limit_cpu(attach__span text, uint32_t *out);

#endif
