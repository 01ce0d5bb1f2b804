/* SPDX-License-Identifier: Apache-2.0 */
/* Reads container id and pod uid from the paths of /proc/PID/cgroup (cgroups(7)), v1 and v2. */
#ifndef ATTACH_PROC_CGROUP_H
#define ATTACH_PROC_CGROUP_H

#include "files/text_impl.h"
#include <attach/jvm.h>

/* Fills out->cgroup, container_id and pod_uid; empty where the text has none. */
void attach__cgroup_read(attach_jvm *out, attach__span text);

#endif
