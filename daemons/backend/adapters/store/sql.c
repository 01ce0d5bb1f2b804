/* SPDX-License-Identifier: Apache-2.0 */
#include "sql.h"

#include <catalogue/profile_type.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sql_begin(statement *s)
{
    memset(s, 0, sizeof(*s));
}

void sql_end(statement *s)
{
    for (size_t i = 0; i < s->list_count; i++)
        free(s->lists[i]);
    s->list_count = 0;
}

void sql_add(statement *s, const char *text_to_add)
{
    size_t length = strlen(text_to_add);

    if (s->length + length >= sizeof(s->text)) {
        s->failed = 1;
        return;
    }
    memcpy(s->text + s->length, text_to_add, length + 1);
    s->length += length;
}

void sql_add_number(statement *s, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    sql_add(s, digits);
}

static chs_param *add_param(statement *s, const char *name)
{
    if (s->param_count == SQL_PARAMS_MAX) {
        s->failed = 1;
        return NULL;
    }
    chs_param *param = &s->params[s->param_count++];
    *param = (chs_param){.name = name};
    return param;
}

void sql_text(statement *s, const char *name, text value)
{
    chs_param *param = add_param(s, name);

    if (param == NULL)
        return;
    chs_bytes *item = &s->items[s->param_count - 1];
    *item = (chs_bytes){value.data, value.length};
    param->kind = CHS_PARAM_SCALAR;
    param->items = item;
    param->item_count = 1;
}

void sql_number(statement *s, const char *name, uint64_t value)
{
    if (s->number_count == SQL_NUMBERS_MAX) {
        s->failed = 1;
        return;
    }
    char *digits = s->numbers[s->number_count++];
    snprintf(digits, sizeof(s->numbers[0]), "%llu", (unsigned long long)value);
    sql_text(s, name, text_of(digits));
}

/* Returns room for the items of an array parameter; NULL when there is none. */
static chs_bytes *add_list(statement *s, const char *name, size_t count)
{
    chs_bytes *items = malloc((count + 1) * sizeof(*items));
    chs_param *param = items != NULL && s->list_count < 3 ? add_param(s, name) : NULL;

    if (param == NULL) {
        free(items);
        s->failed = 1;
        return NULL;
    }
    s->lists[s->list_count++] = items;
    param->kind = CHS_PARAM_STRINGS;
    param->items = items;
    param->item_count = count;
    return items;
}

void sql_list(statement *s, const char *name, const char *const *values, size_t count)
{
    chs_bytes *items = add_list(s, name, count);

    for (size_t i = 0; items != NULL && i < count; i++)
        items[i] = (chs_bytes){values[i], strlen(values[i])};
}

void sql_ids(statement *s, const char *name, const uint8_t *const *ids, size_t count)
{
    chs_bytes *items = add_list(s, name, count);

    for (size_t i = 0; items != NULL && i < count; i++)
        items[i] = (chs_bytes){(const char *)ids[i], STACK_ID_BYTES};
}

/* ---- filters ---- */

void sql_cluster_params(statement *s, const store_filter *f)
{
    if (f->cluster != NULL)
        sql_text(s, "cluster", text_of(f->cluster));
    if (f->scope->cluster_count > 0)
        sql_list(s, "scope_clusters", f->scope->clusters, f->scope->cluster_count);
}

void sql_filter_params(statement *s, const store_filter *f)
{
    sql_cluster_params(s, f);
    if (f->namespace_name != NULL)
        sql_text(s, "namespace", text_of(f->namespace_name));
    if (f->workload != NULL)
        sql_text(s, "workload", text_of(f->workload));
    if (f->type != 0)
        sql_number(s, "source", profile_type_get(f->type)->source);
    sql_number(s, "from_ms", f->from_ms);
    sql_number(s, "to_ms", f->to_ms);
    if (f->pod != NULL)
        sql_text(s, "pod", text_of(f->pod));
    if (f->container != NULL)
        sql_text(s, "container", text_of(f->container));
    if (f->version != NULL)
        sql_text(s, "version", text_of(f->version));
    if (f->pool != NULL)
        sql_text(s, "pool", text_of(f->pool));
    if (f->object != NULL)
        sql_text(s, "object", text_of(f->object));
    if (f->target != 0)
        sql_number(s, "target", f->target);
    if (f->facet != 0)
        sql_number(s, "facet", f->facet);
    if (f->scope->namespace_count > 0)
        sql_list(s, "scope_namespaces", f->scope->namespaces, f->scope->namespace_count);
    if (f->scope->workload_count > 0)
        sql_list(s, "scope_workloads", f->scope->workloads, f->scope->workload_count);
}

void sql_where_cluster(statement *s, const store_filter *f)
{
    if (f->cluster != NULL)
        sql_add(s, " AND cluster = {cluster:String}");
    if (f->scope->cluster_count > 0)
        sql_add(s, " AND has({scope_clusters:Array(String)}, cluster)");
}

/* Adds the conditions other than the time. */
static void add_conditions(statement *s, const store_filter *f)
{
    sql_where_cluster(s, f);
    if (f->namespace_name != NULL)
        sql_add(s, " AND namespace = {namespace:String}");
    if (f->workload != NULL)
        sql_add(s, " AND workload = {workload:String}");
    if (f->scope->namespace_count > 0)
        sql_add(s, " AND has({scope_namespaces:Array(String)}, namespace)");
    if (f->scope->workload_count > 0)
        sql_add(s, " AND has({scope_workloads:Array(String)}, workload)");
}

void sql_where_time(statement *s, const char *column)
{
    sql_add(s, " WHERE ");
    sql_add(s, column);
    sql_add(s, " >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC') AND ");
    sql_add(s, column);
    sql_add(s, " < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')");
}

void sql_where(statement *s, const store_filter *f, const char *column)
{
    sql_where_time(s, column);
    if (f->type != 0)
        sql_add(s, " AND source = {source:UInt8}");
    add_conditions(s, f);
}

static void add_parts(statement *s, const store_filter *f)
{
    if (f->pod != NULL)
        sql_add(s, " AND pod = {pod:String}");
    if (f->container != NULL)
        sql_add(s, " AND container = {container:String}");
    if (f->version != NULL)
        sql_add(s, " AND app_version = {version:String}");
    if (f->target != 0)
        sql_add(s, " AND target_id = {target:UInt64}");
}

void sql_where_windows(statement *s, const store_filter *f)
{
    sql_where(s, f, "time");
    add_parts(s, f);
}

/* Adds the conditions that only samples and their hourly sums can meet. */
static void add_parts_of_samples(statement *s, const store_filter *f)
{
    if (f->pool != NULL)
        sql_add(s, " AND pool = {pool:String}");
    if (f->facet != 0)
        sql_add(s, " AND facet = {facet:UInt8}");
    if (f->object != NULL)
        sql_add(s, " AND object = {object:String}");
}

void sql_where_rollups(statement *s, const store_filter *f)
{
    sql_where(s, f, "hour");
    add_parts(s, f);
    add_parts_of_samples(s, f);
}

void sql_where_samples(statement *s, const store_filter *f)
{
    sql_where_windows(s, f);
    /* The hour comes before the time in the table's order, so that this condition uses the
     * index. */
    sql_add(s, " AND toStartOfHour(time) >= toStartOfHour(fromUnixTimestamp64Milli("
               "{from_ms:Int64}, 'UTC')) AND toStartOfHour(time) <= "
               "toStartOfHour(fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC'))");
    add_parts_of_samples(s, f);
}

void sql_where_days(statement *s, const store_filter *f, const char *column)
{
    sql_add(s, " WHERE ");
    sql_add(s, column);
    sql_add(s, " >= toDate(fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')) AND ");
    sql_add(s, column);
    sql_add(s, " <= toDate(fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC'))");
    add_conditions(s, f);
}

/* ---- running ---- */

int(sql_fail)(store_error *err, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    err->code = code;
    return code;
}

int sql_error(store_error *err, const chs_error *from)
{
    int code = STORE_ERR_FAILED;

    switch (from->code) {
    case CHS_ERR_NETWORK:
    case CHS_ERR_UNAVAILABLE:
    case CHS_ERR_AUTH:
    case CHS_ERR_CANCELLED:
    case CHS_ERR_NO_MEMORY:
        code = STORE_ERR_UNAVAILABLE;
        break;
    case CHS_ERR_TIMEOUT:
        code = STORE_ERR_TIMEOUT;
        break;
    case CHS_ERR_SERVER_RETRY:
        code = STORE_ERR_BUSY;
        break;
    default:
        break;
    }
    return sql_fail(err, code, "%s", from->message);
}

static int make_call(chs_call *call, const statement *s, uint32_t timeout_ms, store_error *err)
{
    if (s->failed)
        return sql_fail(err, STORE_ERR_FAILED, "A statement is too long, or there is no memory.");
    call->params = s->params;
    call->param_count = s->param_count;
    call->timeout_ms = timeout_ms;
    return 0;
}

static int finish_call(int rc, chs_error *failure, store_error *err)
{
    if (rc == 0)
        return 0;
    failure->code = rc;
    return sql_error(err, failure);
}

int sql_exec(statement *s, chs_transport *transport, uint32_t timeout_ms, store_error *err)
{
    chs_call call = CHS_CALL_INIT;
    chs_error failure = {0};

    if (make_call(&call, s, timeout_ms, err) != 0)
        return err->code;
    return finish_call(chs_exec(transport, s->text, &call, &failure), &failure, err);
}

int sql_query(statement *s, chs_transport *transport, uint32_t timeout_ms, chs_block_fn on_block,
              void *context, store_error *err)
{
    chs_call call = CHS_CALL_INIT;
    chs_error failure = {0};

    if (make_call(&call, s, timeout_ms, err) != 0)
        return err->code;
    return finish_call(chs_query(transport, s->text, &call, on_block, context, &failure), &failure,
                       err);
}
