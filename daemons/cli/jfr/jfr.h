/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `hotstack jfr`: one file each, one row each in the table of jfr.c. */
#ifndef HOTSTACK_CLI_JFR_H
#define HOTSTACK_CLI_JFR_H

/* As command.run: argv[0] is the subcommand's own name, --help is its to answer. */
int jfr_events_run(int argc, char **argv);
int jfr_metadata_run(int argc, char **argv);
int jfr_print_run(int argc, char **argv);
int jfr_summary_run(int argc, char **argv);
int jfr_totals_run(int argc, char **argv);

#endif
