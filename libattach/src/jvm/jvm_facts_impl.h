/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM says about itself: its command line, hsperfdata and release file. All of it hostile.
 */
#ifndef ATTACH_JVM_FACTS_H
#define ATTACH_JVM_FACTS_H

#include "files/files_impl.h"
#include "jvm/jvm_flags_impl.h"
#include "proc/proc_maps_impl.h"
#include <attach/jvm.h>

#define ATTACH__PROGRAM_MAX 256

/* The file name of the program that the process runs; "" when it may not be told. */
void attach__program_read(char out[ATTACH__PROGRAM_MAX], int proc_fd);

/*
 * /proc/PID/cmdline: arguments ending in NUL. Fills command_line, main_class, flags. Only `java`
 * takes a main class as argument: of any other `program`, which makes the JVM itself, main_class is
 * its name. "" = the program is what the first argument calls it.
 */
void attach__cmdline_read(attach_jvm *out, attach__flags *flags, attach__span text,
                          const char *program);

/* hsperfdata bytes: version, vendor, vm_name, main_class, flags. Leaves what it cannot read. */
void attach__hsperf_read(attach_jvm *out, attach__flags *flags, attach__span bytes);

/* The JDK's `release` file: version and vendor where still empty. */
void attach__release_read(attach_jvm *out, attach__span text);

/*
 * Finds and reads the hsperfdata of ns_pid below root_fd, and the release file beside libjvm. What
 * lies on a mount that could hang us is left alone; mountinfo may be empty: no mount is suspected.
 */
void attach__facts_from_root(attach_jvm *out, attach__flags *flags, int root_fd,
                             attach__span mountinfo);

/* Whether the JDK was deleted under the running JVM and nothing, as a newer one, lies in its place.
 * A place that could hang us is not looked at. */
bool attach__jdk_is_deleted(const attach__map_facts *maps, int root_fd, attach__span mountinfo);

#endif
