/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that a JVM states about itself: its command line, hsperfdata and release file. None of them
 * can be trusted. */
#ifndef ATTACH_JVM_FACTS_H
#define ATTACH_JVM_FACTS_H

#include "files/files_impl.h"
#include "jvm/jvm_flags_impl.h"
#include "proc/proc_maps_impl.h"
#include <attach/jvm.h>

#define ATTACH__PROGRAM_MAX 256

/* Reads the file name of the process's program; "" when it is not accessible. */
void attach__program_read(char out[ATTACH__PROGRAM_MAX], int proc_fd);

/*
 * Reads /proc/PID/cmdline, arguments that each end in NUL. Fills command_line, main_class and
 * flags. Only `java` has a main class among its arguments. For any other `program`, which creates
 * the JVM itself, main_class is the program's name. "" = the program is the one that the first
 * argument names.
 */
void attach__cmdline_read(attach_jvm *out, attach__flags *flags, attach__span text,
                          const char *program);

/* Reads version, vendor, vm_name, main_class and flags from hsperfdata bytes. Leaves unreadable
 * ones unchanged. */
void attach__hsperf_read(attach_jvm *out, attach__flags *flags, attach__span bytes);

/* Reads the JDK's `release` file: version and vendor where they are still empty. */
void attach__release_read(attach_jvm *out, attach__span text);

/* Finds and reads the hsperfdata of ns_pid below root_fd, and the release file near libjvm. Files
 * on a mount that could hang are not read; an empty mountinfo means that no mount could hang. */
void attach__facts_from_root(attach_jvm *out, attach__flags *flags, int root_fd,
                             attach__span mountinfo);

/* Returns whether the JDK's files were deleted while the JVM runs and no other JDK has been
 * installed at the same path. Returns false for a path on a mount that could hang. */
bool attach__jdk_is_deleted(const attach__map_facts *maps, int root_fd, attach__span mountinfo);

#endif
