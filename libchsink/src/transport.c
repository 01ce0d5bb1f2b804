/* SPDX-License-Identifier: Apache-2.0 */
/* The port: checks that apply to every transport, and calls of its functions. */
#include <stdlib.h>
#include <string.h>

#include <chsink/transport.h>

#include "chsink_impl.h"
#include "sql_impl.h"

struct chs_transport {
    const chs_transport_ops *ops;
    void *self;
};

int chs_transport_new(chs_transport **out, const chs_transport_ops *ops, void *self, chs_error *err)
{
    chs_transport *transport;

    *out = NULL;
    if (!ops || ops->size != sizeof *ops || !ops->ping || !ops->exec || !ops->insert ||
        !ops->query || !ops->cancel || !ops->close)
        return CHS__FAIL(err, CHS_ERR_USAGE,
                         "chs_transport_ops is of another version or lacks a function: set size "
                         "and every function");
    transport = malloc(sizeof *transport);
    if (!transport)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a transport");
    transport->ops = ops;
    transport->self = self;
    *out = transport;
    return 0;
}

void chs_transport_close(chs_transport *transport)
{
    if (!transport)
        return;
    transport->ops->close(transport->self);
    free(transport);
}

/* Copies the caller's call into a struct of this library's size, and checks names and values. */
static int settle_call(chs_call *settled, const chs_call *call, chs_error *err)
{
    int rc = chs__options(settled, sizeof *settled, call, "chs_call", err);

    if (rc)
        return rc;
    rc = chs__check_settings(settled->settings, settled->setting_count, err);
    return rc ? rc : chs__check_params(settled->params, settled->param_count, err);
}

int chs_ping(chs_transport *transport, const chs_call *call, chs_error *err)
{
    chs_call settled = CHS_CALL_INIT;
    int rc = settle_call(&settled, call, err);

    return rc ? rc : transport->ops->ping(transport->self, &settled, err);
}

int chs_exec(chs_transport *transport, const char *sql, const chs_call *call, chs_error *err)
{
    chs_call settled = CHS_CALL_INIT;
    int rc = settle_call(&settled, call, err);

    return rc ? rc : transport->ops->exec(transport->self, sql, &settled, err);
}

int chs_query(chs_transport *transport, const char *sql, const chs_call *call,
              chs_block_fn on_block, void *context, chs_error *err)
{
    chs_call settled = CHS_CALL_INIT;
    int rc = settle_call(&settled, call, err);

    if (rc)
        return rc;
    return transport->ops->query(transport->self, sql, &settled, on_block, context, err);
}

int chs_insert(chs_transport *transport, const chs_insert_request *request, const chs_call *call,
               chs_error *err)
{
    chs_insert_request settled_request = CHS_INSERT_REQUEST_INIT;
    chs_call settled = CHS_CALL_INIT;
    int rc = settle_call(&settled, call, err);

    if (!rc)
        rc = chs__options(&settled_request, sizeof settled_request, request, "chs_insert_request",
                          err);
    if (!rc)
        rc = chs__check_insert(&settled_request, err);
    if (rc)
        return rc;
    return transport->ops->insert(transport->self, &settled_request, &settled, err);
}

void chs_cancel(chs_transport *transport)
{
    transport->ops->cancel(transport->self);
}
