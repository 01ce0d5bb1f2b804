/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program `hotstack`: one file each, one row each in the table of main.c. */
#ifndef HOTSTACK_CLI_COMMAND_H
#define HOTSTACK_CLI_COMMAND_H

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

typedef struct command {
    const char *name;
    const char *summary; /* one line for `hotstack --help` */
    /*
     * Runs the command. argv[0] is the command's own name; --help is the command's to answer.
     * Returns an exit code.
     */
    int (*run)(int argc, char **argv);
} command;

int attach_run(int argc, char **argv);
int collector_run(int argc, char **argv);
int convert_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int jfr_run(int argc, char **argv);
int doctor_run(int argc, char **argv);
int jcmd_run(int argc, char **argv);
int profile_run(int argc, char **argv);
int ps_run(int argc, char **argv);
int threads_run(int argc, char **argv);
int top_run(int argc, char **argv);

/*
 * Runs a command under its full name ("jfr print"), which complain then begins with, and so does
 * getopt: argv[0] becomes it. `name` is kept, not copied. Returns the command's exit code.
 */
int run_as(const char *name, const command *c, int argc, char **argv);

/* Prints "hotstack COMMAND: " ("hotstack: " before run_as) and a formatted message to standard
 * error, with what could drive a terminal made harmless. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Notes what a recorder says it lost itself (jfr_loss); nothing of 0. */
void complain_of_recorder(uint64_t samples, uint64_t bytes);

#endif
