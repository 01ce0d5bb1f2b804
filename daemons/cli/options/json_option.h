/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_JSON_OPTION_H
#define HOTSTACK_CLI_JSON_OPTION_H

#include <stdbool.h>

/* Reads the options of a command that has --json and --help alone; `optind` is then at the first
 * argument. shorts: "h", or "+h" where options after the first argument are not ours. Returns the
 * exit code to end with, or -1 to go on. */
int json_option_parse(bool *json, int argc, char **argv, const char *shorts, const char *help);

#endif
