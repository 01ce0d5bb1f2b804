/* SPDX-License-Identifier: Apache-2.0 */
/* The real ClickHouse that store_test talks to: the embedded engine, or chdb-http beside it. */
#ifndef CHSINK_TESTS_TARGET_H
#define CHSINK_TESTS_TARGET_H

#include <stdbool.h>

#include <chsink/chsink.h>

/* "embedded", or "http" with the path of chdb-http. Ends the program with a skip when it cannot be.
 */
void target_start(int argc, char **argv);

/* Ends chdb-http and removes the data. */
void target_stop(void);

bool target_is_http(void);

/* A transport to the target's database "default"; fails the test when it cannot be opened. */
chs_transport *target_open(void);

/* For http: the URL, and a transport with these changes to the usual options. */
const char *target_url(void);
chs_transport *target_open_http(const chs_http_options *options);

/*
 * For http, in a test's own process: from here on a chdb-http of its own on another directory;
 * ended by SIGTERM and started again there; ended. Exit codes of the process that was ended.
 */
void target_start_own(void);
int target_restart_own(void);
int target_end_own(void);

/* For embedded: the data directory. */
const char *target_path(void);

/* The user and password that chdb-http asks for. */
#define TARGET_USER     "tester"
#define TARGET_PASSWORD "se&cret 'p"

#endif
