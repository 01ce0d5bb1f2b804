/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program `hotstack`: one file each, one row each in the table of commands.c.
 */
#ifndef HOTSTACK_CLI_COMMAND_H
#define HOTSTACK_CLI_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* How the program ends. */
enum exit_code {
    EXIT_WHOLE = 0, /* done, nothing missing */
    EXIT_UNREADABLE =
        1, /* an input cannot be read, an output cannot be written, or there is nothing to show */
    EXIT_USAGE = 2,      /* the command line is wrong */
    EXIT_SALVAGED = 3,   /* done, but something of the input is missing; standard error says what */
    EXIT_REGRESSION = 4, /* done, and the comparison fails the rule that was given */
};

/* For the rows of the table of options, which say whose they are. */
enum command_bit {
    OF_ATTACH_STATUS = 1 << 0,
    OF_CONVERT = 1 << 1,
    OF_DIFF = 1 << 2,
    OF_DOCTOR = 1 << 3,
    OF_JCMD = 1 << 4,
    OF_JFR_EVENTS = 1 << 5,
    OF_JFR_METADATA = 1 << 6,
    OF_JFR_PRINT = 1 << 7,
    OF_JFR_SUMMARY = 1 << 8,
    OF_JFR_TOTALS = 1 << 9,
    OF_PROFILE = 1 << 10,
    OF_PS = 1 << 11,
    OF_THREADS = 1 << 12,
    OF_TOP = 1 << 13,
    OF_COLLECTOR_STATUS = 1 << 14,
    OF_ALL = (1 << 15) - 1,
};

/* What stands beside a command's options. */
enum command_operands {
    OPERANDS_NONE,
    OPERANDS_FILE,
    OPERANDS_FILES,
    OPERANDS_TWO_FILES,
    OPERANDS_JVM,
    OPERANDS_JVM_OR_NONE,
    OPERANDS_JVM_COMMAND, /* a JVM, and words that are the command's whatever they look like */
};

typedef struct cli_options cli_options;

typedef struct command {
    const char *name;    /* "convert", "jfr print" */
    const char *summary; /* one line for `hotstack --help` */
    const char *usage;   /* behind the name */
    const char *about;   /* for --help, above the options; lines are broken where they fit */
    const char *ending;  /* the same, below */
    enum command_bit bit;
    enum command_operands operands;
    int (*run)(cli_options *o); /* returns an exit code */
} command;

extern const command attach_status_command, collector_status_command, convert_command, diff_command,
    doctor_command, jcmd_command, jfr_events_command, jfr_metadata_command, jfr_print_command,
    jfr_summary_command, jfr_totals_command, profile_command, ps_command, threads_command,
    top_command;

/* Commands of two words. */
typedef struct command_group {
    const char *name;
    const char *summary;
    const char *about;
} command_group;

/* By its name; NULL = there is none (commands.c). */
const command *command_find(const char *name);
const command_group *command_group_find(const char *name);

typedef struct command_name {
    const char *name;
    const char *summary;
} command_name;

enum { COMMAND_NAMES = 32 };

/* The words that may follow `hotstack`, or a group's name: commands and groups. Returns how many.
 */
size_t command_names(command_name out[COMMAND_NAMES], const command_group *group);

/* Names the command ("jfr print") that complaints begin with; `name` is kept, not copied. */
void complain_as(const char *name);

/* Prints "hotstack COMMAND: " ("hotstack: " before complain_as) and a formatted message to standard
 * error, with what could drive a terminal made harmless. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Notes what a recorder says it lost itself (jfr_loss); nothing of 0. */
void complain_of_recorder(uint64_t samples, uint64_t bytes);

#endif
