/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded transport. Every call has a session of its own with the call's settings, so that no
 * setting, database or temporary table leaks into the next call. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "embedded/chdb_params_impl.h"
#include "embedded/engine_impl.h"
#include "settings_impl.h"
#include "sql_impl.h"

typedef struct embedded {
    const chs__chdb *chdb;
    char *database;
    bool readonly;
    uint32_t timeout_ms;
    chs_reader_options reader;
    chs__settings settings;
    char tag[64]; /* in log_comment, where KILL QUERY finds this transport's statement */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint64_t calls; /* under the lock, as are the next two */
    bool busy;
    bool cancelled;
} embedded;

/* One call in progress. */
typedef struct statement {
    embedded *self;
    chdb_session *session;
    chs__settings settings;
    char *comment;
    char seconds[24];
} statement;

/* A stream of chunks, which is the source of a reader. */
typedef struct source {
    embedded *self;
    chdb_session session;
    chdb_answer *stream;
    chdb_answer *chunk;
    size_t used; /* bytes of chunk that the reader has */
} source;

static bool is_cancelled(embedded *self)
{
    bool cancelled;

    (void)pthread_mutex_lock(&self->lock);
    cancelled = self->cancelled;
    (void)pthread_mutex_unlock(&self->lock);
    return cancelled;
}

static void mark_busy(embedded *self, bool busy)
{
    (void)pthread_mutex_lock(&self->lock);
    self->busy = busy;
    if (busy) {
        self->calls++;
        self->cancelled = false;
    }
    (void)pthread_cond_broadcast(&self->ended);
    (void)pthread_mutex_unlock(&self->lock);
}

/* Gathers the settings that every call needs, then the transport's, then the call's; later ones
 * override. */
static int gather_settings(statement *st, const chs_call *call, const char *token, chs_error *err)
{
    embedded *self = st->self;
    uint32_t timeout_ms = call->timeout_ms ? call->timeout_ms : self->timeout_ms;
    chs_setting token_settings[CHS__TOKEN_SETTINGS];
    const char *comment;
    int rc;

    (void)snprintf(st->seconds, sizeof st->seconds, "%u.%03u", timeout_ms / 1000,
                   timeout_ms % 1000);
    rc = chs__settings_set(&st->settings, "max_execution_time", st->seconds, err);
    if (!rc)
        rc = chs__settings_set(&st->settings, "implicit_select", "0", err);
    if (!rc)
        rc = chs__settings_add(&st->settings, self->settings.list, self->settings.count, err);
    if (!rc)
        rc = chs__settings_add(&st->settings, call->settings, call->setting_count, err);
    if (!rc && token) {
        chs__token_settings(token_settings, token);
        rc = chs__settings_add(&st->settings, token_settings, CHS__TOKEN_SETTINGS, err);
    }
    if (!rc && self->readonly)
        rc = chs__settings_set(&st->settings, "readonly", "1", err);
    if (rc)
        return rc;
    comment = chs__settings_get(&st->settings, "log_comment");
    if (asprintf(&st->comment, "%s%s%s", comment ? comment : "", comment ? " " : "", self->tag) < 0)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a call");
    return chs__settings_set(&st->settings, "log_comment", st->comment, err);
}

static int run_plain(const chs__chdb *chdb, chdb_session session, const char *sql,
                     const chs__chdb_params *params, size_t param_count, chs_error *err)
{
    chdb_answer *answer =
        chdb->query(session, sql, strlen(sql), "Null", 4, params ? params->names : NULL,
                    params ? params->name_lengths : NULL, params ? params->values : NULL,
                    params ? params->value_lengths : NULL, param_count);
    const char *text = answer ? chdb->answer_error(answer) : "the engine gave no answer";
    int rc = text ? chs__fail_server(err, CHS_ERR_SERVER_FINAL, text, strlen(text)) : 0;

    if (answer)
        chdb->answer_free(answer);
    return rc;
}

static int use_database(statement *st, chs_error *err)
{
    chs__buffer sql = {0};
    int rc;

    if (strcmp(st->self->database, "default") == 0)
        return 0;
    rc = chs__use_sql(&sql, st->self->database, err);
    if (!rc)
        rc = run_plain(st->self->chdb, *st->session, (const char *)sql.data, NULL, 0, err);
    chs__buffer_free(&sql);
    return rc;
}

static int begin(statement *st, embedded *self, const chs_call *call, const char *token,
                 chs_error *err)
{
    int rc;

    memset(st, 0, sizeof *st);
    st->self = self;
    mark_busy(self, true);
    rc = gather_settings(st, call, token, err);
    if (!rc)
        rc = chs__session_open(&st->session, st->settings.list, st->settings.count, err);
    return rc;
}

/*
 * Ends the call. A failure after chs_cancel is a cancellation, whichever error the engine reported.
 */
static int end(statement *st, int rc, chs_error *err)
{
    embedded *self = st->self;

    if (st->session)
        self->chdb->close(st->session);
    chs__settings_free(&st->settings);
    free(st->comment);
    if (rc && is_cancelled(self))
        rc = CHS__FAIL(err, CHS_ERR_CANCELLED, "The call was cancelled");
    mark_busy(self, false);
    return rc;
}

/* Checks that the text has one statement. chDB would run all of them, but one call is one
 * statement, as over HTTP. */
static int check_single(const statement *st, const char *sql, chs_error *err)
{
    static const char multiple[] =
        "Code: 62. DB::Exception: The text holds several statements: give one per call. "
        "(SYNTAX_ERROR)";
    chs__chdb_analysis analysis = {sizeof analysis, 0, 0, 0};

    if (st->self->chdb->classify(*st->session, sql, strlen(sql), NULL, 0, &analysis) != 0)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE, "libchdb.so cannot classify a statement");
    if (analysis.statements > 1)
        return chs__fail_server(err, CHS_ERR_SERVER_FINAL, multiple, strlen(multiple));
    return 0;
}

/* Begins a call that runs a text of the caller's. It ends like any other call. */
static int begin_text(statement *st, chs__chdb_params *params, embedded *self, const char *sql,
                      const chs_call *call, chs_error *err)
{
    int rc = begin(st, self, call, NULL, err);

    if (!rc)
        rc = use_database(st, err);
    if (!rc)
        rc = check_single(st, sql, err);
    if (!rc)
        rc = chs__chdb_params_make(params, call, err);
    return rc;
}

static int embedded_exec(void *context, const char *sql, const chs_call *call, chs_error *err)
{
    embedded *self = context;
    chs__chdb_params params = {0};
    statement st;
    int rc = begin_text(&st, &params, self, sql, call, err);

    if (!rc)
        rc = run_plain(self->chdb, *st.session, sql, &params, call->param_count, err);
    chs__chdb_params_free(&params);
    return end(&st, rc, err);
}

static int embedded_ping(void *context, const chs_call *call, chs_error *err)
{
    return embedded_exec(context, "SELECT 1", call, err);
}

/* Sends the whole block in one piece, so that it stays one block, and commits. */
static int send_block(const chs__chdb *chdb, chdb_insert insert, const chs_bytes *block,
                      chs_error *err)
{
    chdb_answer *answer;
    const char *text = chdb->insert_error(insert);
    int rc;

    if (text)
        return chs__fail_server(err, CHS_ERR_SERVER_FINAL, text, strlen(text));
    (void)chdb->insert_append(insert, block->data, block->length); /* done repeats its failure */
    answer = chdb->insert_done(insert);
    text = answer ? chdb->answer_error(answer) : "the engine gave no answer";
    rc = text ? chs__fail_server(err, CHS_ERR_SERVER_FINAL, text, strlen(text)) : 0;
    if (answer)
        chdb->answer_free(answer);
    return rc;
}

static int embedded_insert(void *context, const chs_insert_request *request, const chs_call *call,
                           chs_error *err)
{
    embedded *self = context;
    chs__buffer sql = {0};
    statement st;
    int rc = begin(&st, self, call, request->token, err);

    if (!rc)
        rc = chs__insert_sql(&sql, request, self->database, err);
    if (!rc) {
        chdb_insert insert = self->chdb->insert(*st.session, (const char *)sql.data, sql.length,
                                                "Native", strlen("Native"));

        rc = send_block(self->chdb, insert, &request->block, err);
        self->chdb->insert_free(insert);
    }
    chs__buffer_free(&sql);
    return end(&st, rc, err);
}

/* Reads for the reader: the rest of the current chunk, or the next one. */
static int read_chunk(void *context, void *buffer, size_t capacity, size_t *length, chs_error *err)
{
    source *in = context;
    const chs__chdb *chdb = in->self->chdb;
    size_t left = in->chunk ? chdb->answer_length(in->chunk) - in->used : 0;

    if (!left) {
        const char *text;

        if (is_cancelled(in->self))
            return CHS__FAIL(err, CHS_ERR_CANCELLED, "The call was cancelled");
        if (in->chunk)
            chdb->answer_free(in->chunk);
        in->used = 0;
        in->chunk = chdb->stream_fetch(in->session, in->stream);
        text = in->chunk ? chdb->answer_error(in->chunk) : "the engine gave no answer";
        if (text)
            return chs__fail_server(err, CHS_ERR_SERVER_FINAL, text, strlen(text));
        left = chdb->answer_length(in->chunk);
    }
    *length = left < capacity ? left : capacity;
    if (*length)
        memcpy(buffer, chdb->answer_data(in->chunk) + in->used, *length);
    in->used += *length;
    return 0;
}

static int stream_blocks(source *in, chs_block_fn on_block, void *context, chs_error *err)
{
    const chs__chdb *chdb = in->self->chdb;
    const char *text = in->stream ? chdb->answer_error(in->stream) : "the engine gave no answer";
    chs_reader *reader;
    int rc;

    if (text)
        return chs__fail_server(err, CHS_ERR_SERVER_FINAL, text, strlen(text));
    rc = chs_reader_open(&reader, read_chunk, in, &in->self->reader, err);
    if (!rc)
        rc = chs__each_block(reader, on_block, context, err);
    chs_reader_close(reader);
    if (rc)
        chdb->stream_cancel(in->session, in->stream);
    return rc;
}

static int run_query(const statement *st, const char *sql, const chs__chdb_params *params,
                     size_t param_count, chs_block_fn on_block, void *context, chs_error *err)
{
    const chs__chdb *chdb = st->self->chdb;
    source in = {st->self, *st->session, NULL, NULL, 0};
    int rc;

    in.stream = chdb->stream_query(in.session, sql, strlen(sql), "Native", strlen("Native"),
                                   params->names, params->name_lengths, params->values,
                                   params->value_lengths, param_count);
    rc = stream_blocks(&in, on_block, context, err);
    if (in.chunk)
        chdb->answer_free(in.chunk);
    if (in.stream)
        chdb->answer_free(in.stream);
    return rc;
}

static int embedded_query(void *context, const char *sql, const chs_call *call,
                          chs_block_fn on_block, void *block_context, chs_error *err)
{
    chs__chdb_params params = {0};
    statement st;
    int rc = begin_text(&st, &params, context, sql, call, err);

    if (!rc)
        rc = run_query(&st, sql, &params, call->param_count, on_block, block_context, err);
    chs__chdb_params_free(&params);
    return end(&st, rc, err);
}

/* Kills the statement whose log_comment ends with this transport's tag, in a session of its own. */
static void kill_statement(const embedded *self)
{
    static const char sql[] =
        "KILL QUERY WHERE endsWith(Settings['log_comment'], {tag:String}) ASYNC";
    chs_param param = {"tag", CHS_PARAM_SCALAR, self->tag, NULL, 0};
    chs_call call = CHS_CALL_INIT;
    chs__chdb_params params;
    chdb_session *session;

    call.params = &param;
    call.param_count = 1;
    if (chs__session_open(&session, NULL, 0, NULL) != 0)
        return;
    if (chs__chdb_params_make(&params, &call, NULL) == 0)
        (void)run_plain(self->chdb, *session, sql, &params, 1, NULL);
    chs__chdb_params_free(&params);
    self->chdb->close(session);
}

/* Repeats the kill until the call has ended, because a statement that has just begun is not yet in
 * the list of statements that can be killed. */
static void embedded_cancel(void *context)
{
    embedded *self = context;
    uint64_t call;

    (void)pthread_mutex_lock(&self->lock);
    call = self->calls;
    if (self->busy)
        self->cancelled = true;
    while (self->busy && self->calls == call) {
        struct timespec until;

        (void)pthread_mutex_unlock(&self->lock);
        kill_statement(self);
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_mutex_lock(&self->lock);
        if (self->busy && self->calls == call)
            (void)pthread_cond_timedwait(&self->ended, &self->lock, &until);
    }
    (void)pthread_mutex_unlock(&self->lock);
}

static void embedded_close(void *context)
{
    embedded *self = context;

    if (self->chdb)
        chs__engine_leave();
    chs__settings_disown(&self->settings);
    free(self->database);
    (void)pthread_cond_destroy(&self->ended);
    (void)pthread_mutex_destroy(&self->lock);
    free(self);
}

static const chs_transport_ops embedded_ops = {
    sizeof embedded_ops, embedded_ping,   embedded_exec,  embedded_insert,
    embedded_query,      embedded_cancel, embedded_close,
};

static int configure(embedded *self, const chs_embedded_options *options, chs_error *err)
{
    static const chs_embedded_options defaults = CHS_EMBEDDED_OPTIONS_INIT;
    static atomic_ulong transports;

    self->readonly = options->readonly != 0;
    self->timeout_ms = options->timeout_ms ? options->timeout_ms : defaults.timeout_ms;
    self->reader.max_bytes = options->max_answer_bytes;
    self->reader.max_block_bytes = options->max_block_bytes;
    (void)snprintf(self->tag, sizeof self->tag, "libchsink:%ld:%lu.", (long)getpid(),
                   atomic_fetch_add(&transports, 1));
    self->database = strdup(options->database ? options->database : "default");
    if (!self->database)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
    return chs__settings_own(&self->settings, options->settings, options->setting_count, err);
}

int chs_embedded_open(chs_transport **out, const chs_embedded_options *options, chs_error *err)
{
    chs_embedded_options settled = CHS_EMBEDDED_OPTIONS_INIT;
    embedded *self;
    int rc = chs__options(&settled, sizeof settled, options, "chs_embedded_options", err);

    *out = NULL;
    if (rc)
        return rc;
    if (!settled.path || !settled.path[0])
        return CHS__FAIL(err, CHS_ERR_USAGE, "The embedded store needs the path of a directory");
    self = calloc(1, sizeof *self);
    if (!self)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
    (void)pthread_mutex_init(&self->lock, NULL);
    (void)pthread_cond_init(&self->ended, NULL);
    self->reader = (chs_reader_options)CHS_READER_OPTIONS_INIT;
    rc = configure(self, &settled, err);
    if (!rc)
        rc = chs__engine_join(&self->chdb, &settled, err);
    if (!rc)
        rc = chs_transport_new(out, &embedded_ops, self, err);
    if (rc)
        embedded_close(self);
    return rc;
}
