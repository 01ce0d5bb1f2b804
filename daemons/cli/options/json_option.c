/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/json_option.h"

#include <getopt.h>
#include <stdio.h>

#include "cli/command.h"

int json_option_parse(bool *json, int argc, char **argv, const char *shorts, const char *help)
{
    enum { OPTION_JSON = 1000 };
    static const struct option longs[] = {
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    *json = false;
    optind = 1;
    while ((option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (option == 'h') {
            (void)fputs(help, stdout);
            return EXIT_WHOLE;
        }
        if (option != OPTION_JSON) {
            (void)fprintf(stderr, "`%s --help` explains the usage.\n", argv[0]);
            return EXIT_USAGE;
        }
        *json = true;
    }
    return -1;
}
