/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program `hotstack`: each has a file of its own and a row in the table of
 * commands.c. */
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

/* One bit for each command: the rows of the table of options name the commands that take them. */
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

/* The operands that a command takes, besides its options. */
enum command_operands {
    OPERANDS_NONE,
    OPERANDS_FILE,
    OPERANDS_FILES,
    OPERANDS_TWO_FILES,
    OPERANDS_JVM,
    OPERANDS_JVM_OR_NONE,
    OPERANDS_JVM_COMMAND, /* a JVM, then words that may look like options */
};

typedef struct cli_options cli_options;

typedef struct command {
    const char *name;    /* "convert", "jfr print" */
    const char *summary; /* one line for `hotstack --help` */
    const char *usage;   /* follows the name */
    const char *about;   /* for --help, above the options; --help breaks the lines */
    const char *ending;  /* as `about`, below the options */
    enum command_bit bit;
    enum command_operands operands;
    int (*run)(cli_options *o); /* returns an exit code */
} command;

extern const command attach_status_command, collector_status_command, convert_command, diff_command,
    doctor_command, jcmd_command, jfr_events_command, jfr_metadata_command, jfr_print_command,
    jfr_summary_command, jfr_totals_command, profile_command, ps_command, threads_command,
    top_command;

/* A first word that several commands share, as "jfr". */
typedef struct command_group {
    const char *name;
    const char *summary;
    const char *about;
} command_group;

/* Returns the command or group of that name, or NULL (commands.c). */
const command *command_find(const char *name);
const command_group *command_group_find(const char *name);

typedef struct command_name {
    const char *name;
    const char *summary;
} command_name;

enum { COMMAND_NAMES = 32 };

/* Lists the words that may follow `hotstack`, or a group's name: commands and groups. Returns how
 * many there are. */
size_t command_names(command_name out[COMMAND_NAMES], const command_group *group);

/* Sets the command's name ("jfr print") with which complaints begin; `name` is borrowed. */
void complain_as(const char *name);

/* Prints "hotstack COMMAND: " ("hotstack: " before complain_as) and a formatted message to standard
 * error. Characters that could control a terminal are replaced. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Complains about samples and bytes that the recorder says it lost (jfr_loss); 0 prints nothing. */
void complain_of_recorder(uint64_t samples, uint64_t bytes);

#endif
