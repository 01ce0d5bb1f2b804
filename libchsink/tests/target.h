/* SPDX-License-Identifier: Apache-2.0 */
/* The real ClickHouse for store_test: the embedded engine, or a chdb-http process. */
#ifndef CHSINK_TESTS_TARGET_H
#define CHSINK_TESTS_TARGET_H

#include <stdbool.h>

#include <chsink/chsink.h>

/* Starts the target: "embedded", or "http" with the path of chdb-http. Skips the program when it
 * cannot be started. */
void target_start(int argc, char **argv);

/* Ends chdb-http and removes the data. */
void target_stop(void);

bool target_is_http(void);

/* Opens a transport to the target's database "default"; fails the test when that is impossible. */
chs_transport *target_open(void);

/* For http: return the URL, and open a transport with these changes to the usual options. */
const char *target_url(void);
chs_transport *target_open_http(const chs_http_options *options);

/*
 * For http, in a test's own process. target_start_own starts a chdb-http on another directory for
 * the rest of the test; target_restart_own ends it with SIGTERM and starts it there again;
 * target_end_own ends it. They return the exit code of the process that was ended.
 */
void target_start_own(void);
int target_restart_own(void);
int target_end_own(void);

/* For embedded: returns the data directory. */
const char *target_path(void);

/* The user and password that chdb-http requires. */
#define TARGET_USER     "tester"
#define TARGET_PASSWORD "se&cret 'p"

#endif
