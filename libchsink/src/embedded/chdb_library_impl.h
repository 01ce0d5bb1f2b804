/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libchdb.so at run time; declares the functions that this library calls. */
#ifndef CHSINK_SRC_CHDB_LIBRARY_H
#define CHSINK_SRC_CHDB_LIBRARY_H

#include "chsink_impl.h"

/* Opaque handles of chDB's C interface, version 26. */
typedef struct chdb_answer chdb_answer; /* of a query, a stream's chunk or an insert */
typedef void *chdb_session;
typedef void *chdb_insert;

typedef struct chs__chdb {
    void *handle;
    const char *(*version)(void);
    /* 0 keeps the engine from installing signal handlers; before the first connect. */
    void (*set_signal_handlers)(int enabled);
    /* "--path=", server options and "--<setting>=<value>" as a command line. NULL on failure. */
    chdb_session *(*connect)(int argc, char **argv);
    void (*close)(chdb_session *session);
    /* Analyses a statement without running it; see chs__chdb_analysis. 0 on success. */
    int (*classify)(chdb_session session, const char *sql, size_t sql_length, const char *database,
                    size_t database_length, void *analysis);
    /* Statement, output format, parameters as parallel arrays of names and values. */
    chdb_answer *(*query)(chdb_session session, const char *sql, size_t sql_length,
                          const char *format, size_t format_length, const char *const *names,
                          const size_t *name_lengths, const char *const *values,
                          const size_t *value_lengths, size_t count);
    chdb_answer *(*stream_query)(chdb_session session, const char *sql, size_t sql_length,
                                 const char *format, size_t format_length, const char *const *names,
                                 const size_t *name_lengths, const char *const *values,
                                 const size_t *value_lengths, size_t count);
    /* The stream's next chunk; an empty one is its end. */
    chdb_answer *(*stream_fetch)(chdb_session session, chdb_answer *stream);
    void (*stream_cancel)(chdb_session session, chdb_answer *stream);
    /* An INSERT without data, then bytes, then the commit. */
    chdb_insert (*insert)(chdb_session session, const char *sql, size_t sql_length,
                          const char *format, size_t format_length);
    int (*insert_append)(chdb_insert insert, const void *data, size_t length);
    chdb_answer *(*insert_done)(chdb_insert insert);
    const char *(*insert_error)(chdb_insert insert);
    void (*insert_free)(chdb_insert insert);
    char *(*answer_data)(chdb_answer *answer);
    size_t (*answer_length)(chdb_answer *answer);
    const char *(*answer_error)(chdb_answer *answer);
    void (*answer_free)(chdb_answer *answer);
} chs__chdb;

/* The result of classify. The caller sets size. */
typedef struct chs__chdb_analysis {
    uint32_t size;
    uint32_t statements; /* 0: the text does not parse */
    uint32_t flags;
    uint32_t statement_class;
} chs__chdb_analysis;

/*
 * Loads the library into out. path: the option, or NULL for HOTSTACK_LIBCHDB, the install directory
 * and the loader's search, in this order. It stays loaded for the life of the process. Returns 0 or
 * CHS_ERR_UNAVAILABLE.
 */
int chs__chdb_load(chs__chdb *out, const char *path, chs_error *err);

#endif
