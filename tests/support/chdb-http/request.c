/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

const char *request_get(const http_request *request, const char *name)
{
    size_t i;

    for (i = 0; i < request->item_count; i++)
        if (strcmp(request->items[i].name, name) == 0)
            return request->items[i].value;
    return NULL;
}

bool request_add(http_request *request, const char *name, const char *value, size_t length)
{
    http_item *items = realloc(request->items, (request->item_count + 1) * sizeof *items);
    http_item *added;

    if (!items)
        return false;
    request->items = items;
    added = &items[request->item_count];
    added->name = strdup(name);
    added->value = calloc(length + 1, 1);
    added->length = length;
    if (!added->name || !added->value) {
        free(added->name);
        free(added->value);
        return false;
    }
    if (length)
        memcpy(added->value, value, length);
    request->item_count++;
    return true;
}

void request_free(http_request *request)
{
    size_t i;

    for (i = 0; i < request->item_count; i++) {
        free(request->items[i].name);
        free(request->items[i].value);
    }
    free(request->items);
    free(request->user);
    free(request->password);
    free(request->encoding);
    free(request->accept_encoding);
    chs__buffer_free(&request->body);
}

void reply_free(http_reply *reply)
{
    chs__buffer_free(&reply->body);
}

/* Maps errors as ClickHouse's src/Server/HTTP/exceptionCodeToHTTPStatus.cpp does. */
static unsigned status_of(int code)
{
    switch (code) {
    case 194: /* REQUIRED_PASSWORD */
        return 401;
    case 192: /* UNKNOWN_USER */
    case 193: /* WRONG_PASSWORD */
    case 497: /* ACCESS_DENIED */
    case 516: /* AUTHENTICATION_FAILED */
        return 403;
    case 16:  /* NO_SUCH_COLUMN_IN_TABLE */
    case 46:  /* UNKNOWN_FUNCTION */
    case 47:  /* UNKNOWN_IDENTIFIER */
    case 60:  /* UNKNOWN_TABLE */
    case 73:  /* UNKNOWN_FORMAT */
    case 81:  /* UNKNOWN_DATABASE */
    case 115: /* UNKNOWN_SETTING */
        return 404;
    case 27: /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
    case 33: /* CANNOT_READ_ALL_DATA */
    case 53: /* TYPE_MISMATCH */
    case 62: /* SYNTAX_ERROR */
    case 72: /* CANNOT_PARSE_NUMBER */
        return 400;
    default:
        return 500;
    }
}

void reply_fail(http_reply *reply, int code, const char *text)
{
    char head[64];

    reply->status = status_of(code);
    reply->exception_code = code;
    reply->body.length = 0;
    if (strncmp(text, "Code: ", 6) != 0) {
        (void)snprintf(head, sizeof head, "Code: %d. DB::Exception: ", code);
        (void)chs__buffer_text(&reply->body, head);
    }
    (void)chs__buffer_text(&reply->body, text);
    (void)chs__buffer_text(&reply->body, "\n");
}
