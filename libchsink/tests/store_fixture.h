/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of a store: a transport to it, queries, a block to insert. */
#ifndef CHSINK_TESTS_STORE_FIXTURE_H
#define CHSINK_TESTS_STORE_FIXTURE_H

#include <check.h>

#include "run_suite.h"
#include "target.h"

extern chs_transport *store; /* of the test that runs */
extern chs_error err;        /* of its last call */

#define OK(call) ck_assert_msg((call) == 0, "%s", err.message)

void store_setup(void);
void store_teardown(void);

void exec_all(const char *const *statements, size_t count);

/* The first value of the first column, a number or a text. */
typedef struct answer {
    uint64_t rows;
    uint64_t number;
    char text[4096];
} answer;

/* A chs_block_fn whose context is an answer. */
int keep_answer(void *context, const chs_result *block);

answer ask(const char *sql, const chs_call *call);

/* Makes one block of (a UInt64, s LowCardinality(String)) with count rows from first. */
chs_block *make_block(uint64_t first, uint64_t count, chs_bytes *encoded);

/* Inserts such a block, under a token unless it is NULL. */
int insert(const char *table, chs_bytes block, const char *token);

/* Cases: every type inserted and read back; functions that only a server has. */
void store_types_cases(TCase *tcase);
void store_server_cases(TCase *tcase);

#endif
