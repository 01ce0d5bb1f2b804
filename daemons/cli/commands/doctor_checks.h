/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that `hotstack doctor` makes of one JVM. They attach to nothing and change nothing. */
#ifndef HOTSTACK_CLI_DOCTOR_CHECKS_H
#define HOTSTACK_CLI_DOCTOR_CHECKS_H

#include <attach/attach.h>

#define DOCTOR_CHECKS_MAX 16

typedef enum doctor_status { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_FAIL } doctor_status;

typedef struct doctor_check {
    const char *name; /* static: "process", "attach", "place" ... */
    doctor_status status;
    attach_reason reason; /* of a failure, and of a note that has one */
    char detail[400];     /* one sentence */
} doctor_check;

typedef struct doctor_report {
    attach_jvm jvm;
    attach_examination seen; /* valid when examined */
    bool examined;
    attach_error not_examined; /* why it could not be examined */
    size_t n;
    doctor_check checks[DOCTOR_CHECKS_MAX];
    /* The verdict: the recorder that `hotstack profile` would use; ATTACH_AP_RECORDER_AUTO if none
     * works. */
    attach_ap_recorder recorder;
    char library_place[160]; /* where the library would be placed; empty = nowhere */
    attach_reason reason;    /* why async-profiler cannot be used */
} doctor_report;

/* Runs the checks for out->jvm and fills the rest. */
void doctor_examine(doctor_report *out);

/* Returns a command that fixes a reason ("kill -CONT 17"), or "". buf holds commands that name the
 * JVM. */
const char *doctor_paste(char *buf, size_t cap, const doctor_report *report, attach_reason reason);

#endif
