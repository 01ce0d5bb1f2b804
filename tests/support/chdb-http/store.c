/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "embedded/engine_impl.h"
#include "sql_impl.h"
#include "statement.h"
#include "store.h"

struct http_store {
    const chs__chdb *chdb;
    char *known_settings; /* "\nname\nname\n" */
};

/* A request that the engine is processing. */
typedef struct http_run {
    const http_store *store;
    const http_request *request;
    chdb_session *session;
    const char **names; /* of parameters, as for the next three members */
    size_t *name_lengths;
    const char **values;
    size_t *value_lengths;
    size_t param_count;
} http_run;

/* Items of the URL that are not settings. */
static const char *const handler_items[] = {
    "query",           "database",          "user",        "password",
    "default_format",  "wait_end_of_query", "buffer_size", "session_id",
    "session_timeout", "query_id",          "compress",    "decompress",
};

static bool is_param(const http_item *item)
{
    return strncmp(item->name, "param_", 6) == 0;
}

static bool is_setting(const http_item *item)
{
    size_t i;

    for (i = 0; i < sizeof handler_items / sizeof *handler_items; i++)
        if (strcmp(item->name, handler_items[i]) == 0)
            return false;
    return !is_param(item);
}

static bool is_known(const http_store *store, const char *name)
{
    char wanted[256];

    if (snprintf(wanted, sizeof wanted, "\n%s\n", name) >= (int)sizeof wanted)
        return false;
    return strstr(store->known_settings, wanted) != NULL;
}

static void fail_as(http_reply *reply, const char *text)
{
    size_t start = 0;
    int code = chs__server_code(text, strlen(text), &start);

    reply_fail(reply, code ? code : 1002, text);
}

/* Opens the session of a request, with its settings; NULL with the reply filled. */
static chdb_session *open_session(const http_store *store, const http_request *request,
                                  http_reply *reply)
{
    chs_setting *settings = calloc(request->item_count + 2, sizeof *settings);
    chdb_session *session = NULL;
    size_t count = 0, i;
    char text[512];

    if (!settings) {
        reply_fail(reply, 173, "no memory");
        return NULL;
    }
    settings[count++] = (chs_setting){"implicit_select", "0"};
    if (request->read_only && !request_get(request, "readonly"))
        settings[count++] = (chs_setting){"readonly", "2"};
    for (i = 0; i < request->item_count; i++) {
        const http_item *item = &request->items[i];

        if (!is_setting(item))
            continue;
        if (!is_known(store, item->name)) {
            (void)snprintf(text, sizeof text, "Unknown setting '%.200s'. (UNKNOWN_SETTING)",
                           item->name);
            reply_fail(reply, 115, text);
            free(settings);
            return NULL;
        }
        settings[count++] = (chs_setting){item->name, item->value};
    }
    if (chs__session_open(&session, settings, count, NULL))
        reply_fail(reply, 72, "A setting's value cannot be parsed. (CANNOT_PARSE_NUMBER)");
    free(settings);
    return session;
}

static bool gather_params(http_run *run)
{
    size_t count = run->request->item_count, i;

    run->names = calloc(count + 1, sizeof *run->names);
    run->name_lengths = calloc(count + 1, sizeof *run->name_lengths);
    run->values = calloc(count + 1, sizeof *run->values);
    run->value_lengths = calloc(count + 1, sizeof *run->value_lengths);
    if (!run->names || !run->name_lengths || !run->values || !run->value_lengths)
        return false;
    for (i = 0; i < count; i++) {
        const http_item *item = &run->request->items[i];

        if (!is_param(item))
            continue;
        run->names[run->param_count] = item->name + 6;
        run->name_lengths[run->param_count] = strlen(item->name + 6);
        run->values[run->param_count] = item->value;
        run->value_lengths[run->param_count++] = item->length;
    }
    return true;
}

/* Copies an answer of the engine to the reply. */
static void take_answer(const chs__chdb *chdb, chdb_answer *answer, http_reply *reply)
{
    const char *text = answer ? chdb->answer_error(answer) : "the engine gave no answer";

    if (text)
        fail_as(reply, text);
    else if (chdb->answer_length(answer) &&
             chs__buffer_add(&reply->body, chdb->answer_data(answer), chdb->answer_length(answer)))
        reply_fail(reply, 173, "no memory for the answer");
    else
        reply->status = 200;
    if (answer)
        chdb->answer_free(answer);
}

static void run_statement(const http_run *run, const char *sql, size_t length, http_reply *reply)
{
    const chs__chdb *chdb = run->store->chdb;
    const char *format = request_get(run->request, "default_format");

    if (!format)
        format = "TabSeparated";
    take_answer(chdb,
                chdb->query(*run->session, sql, length, format, strlen(format), run->names,
                            run->name_lengths, run->values, run->value_lengths, run->param_count),
                reply);
}

static void run_insert(const http_run *run, const insert_text *insert, http_reply *reply)
{
    const chs__chdb *chdb = run->store->chdb;
    chdb_insert stream = chdb->insert(*run->session, insert->head, insert->head_length,
                                      insert->format, insert->format_length);
    const char *text = chdb->insert_error(stream);

    if (text) {
        fail_as(reply, text);
    } else {
        (void)chdb->insert_append(stream, insert->data, insert->data_length);
        take_answer(chdb, chdb->insert_done(stream), reply);
        if (!reply->exception_code)
            reply->body.length = 0;
    }
    chdb->insert_free(stream);
}

static bool use_database(const http_run *run, http_reply *reply)
{
    const char *database = request_get(run->request, "database");
    chs__buffer sql = {0};
    bool used;

    if (!database || !database[0] || strcmp(database, "default") == 0)
        return true;
    if (chs__use_sql(&sql, database, NULL) == 0)
        run_statement(run, (const char *)sql.data, sql.length - 1, reply);
    chs__buffer_free(&sql);
    used = reply->exception_code == 0;
    if (used)
        reply->body.length = 0;
    return used;
}

/* Checks that a text has one statement only: chDB would run several, a server refuses them. */
static bool check_single(const http_run *run, const char *sql, size_t length, http_reply *reply)
{
    chs__chdb_analysis analysis = {sizeof analysis, 0, 0, 0};

    if (run->store->chdb->classify(*run->session, sql, length, NULL, 0, &analysis) != 0 ||
        analysis.statements <= 1)
        return true;
    reply_fail(reply, 62, "Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)");
    return false;
}

static void run_text(const http_run *run, const chs__buffer *body, http_reply *reply)
{
    const char *query = request_get(run->request, "query");
    chs__buffer whole = {0};
    insert_text insert;

    if (split_insert(&insert, query ? query : "", body)) {
        run_insert(run, &insert, reply);
        return;
    }
    if (chs__buffer_text(&whole, query ? query : "") || chs__buffer_text(&whole, "\n") ||
        chs__buffer_add(&whole, body->data, body->length))
        reply_fail(reply, 173, "no memory for the query");
    else if (check_single(run, (const char *)whole.data, whole.length, reply))
        run_statement(run, (const char *)whole.data, whole.length, reply);
    chs__buffer_free(&whole);
}

static void run_in_session(const http_store *store, const http_request *request,
                           const chs__buffer *body, http_reply *reply)
{
    http_run run = {0};

    run.store = store;
    run.request = request;
    run.session = open_session(store, request, reply);
    if (!run.session)
        return;
    if (!gather_params(&run))
        reply_fail(reply, 173, "no memory for the parameters");
    else if (use_database(&run, reply))
        run_text(&run, body, reply);
    store->chdb->close(run.session);
    free(run.names);
    free(run.name_lengths);
    free(run.values);
    free(run.value_lengths);
}

void store_run(http_store *store, const http_request *request, http_reply *reply)
{
    const char *compress = request_get(request, "enable_http_compression");
    chs__buffer decoded = {0};
    const char *wrong = NULL;

    if (request->encoding)
        wrong = decode_body(&decoded, request->encoding, &request->body);
    if (wrong)
        reply_fail(reply, 33, wrong);
    else
        run_in_session(store, request, request->encoding ? &decoded : &request->body, reply);
    chs__buffer_free(&decoded);
    if (compress && strcmp(compress, "1") == 0 && request->accept_encoding)
        reply->encoding = encode_body(&reply->body, request->accept_encoding);
}

void store_interrupt(http_store *store)
{
    static const char sql[] = "KILL QUERY WHERE query_kind = 'Select' ASYNC";
    chdb_session *session = NULL;
    http_reply reply = {0};

    if (chs__session_open(&session, NULL, 0, NULL))
        return;
    take_answer(
        store->chdb,
        store->chdb->query(*session, sql, strlen(sql), "Null", 4, NULL, NULL, NULL, NULL, 0),
        &reply);
    reply_free(&reply);
    store->chdb->close(session);
}

/* Loads the names of settings, so that a misspelt one is refused as by a server. */
static bool load_settings(http_store *store)
{
    static const char sql[] =
        "SELECT concat('\\n', arrayStringConcat(groupArray(name), '\\n'), '\\n') "
        "FROM system.settings";
    chdb_session *session = NULL;
    chdb_answer *answer;

    if (chs__session_open(&session, NULL, 0, NULL))
        return false;
    answer = store->chdb->query(*session, sql, strlen(sql), "RawBLOB", strlen("RawBLOB"), NULL,
                                NULL, NULL, NULL, 0);
    if (answer && !store->chdb->answer_error(answer))
        store->known_settings =
            strndup(store->chdb->answer_data(answer), store->chdb->answer_length(answer));
    if (answer)
        store->chdb->answer_free(answer);
    store->chdb->close(session);
    return store->known_settings != NULL;
}

bool store_open(http_store **out, const chs_embedded_options *options, chs_error *err)
{
    http_store *store = calloc(1, sizeof *store);

    *out = NULL;
    if (!store) {
        (void)CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for the store");
        return false;
    }
    if (chs__engine_join(&store->chdb, options, err)) {
        free(store);
        return false;
    }
    if (!load_settings(store)) {
        (void)CHS__FAIL(err, CHS_ERR_UNAVAILABLE, "The engine does not list its settings");
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

void store_close(http_store *store)
{
    free(store->known_settings);
    chs__engine_leave();
    free(store);
}
