/* SPDX-License-Identifier: Apache-2.0 */
/* Fills errors, and classifies ClickHouse's exception codes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chsink_impl.h"

void chs__describe(chs_error *err, int code, const char *format, ...)
{
    va_list args;

    if (!err)
        return;
    memset(err, 0, sizeof *err);
    err->code = code;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
}

int chs__server_code(const char *text, size_t length, size_t *start)
{
    static const char mark[] = "Code: ";
    const char *found = length ? memmem(text, length, mark, sizeof mark - 1) : NULL;
    const char *end = text + length;
    int code = 0;

    if (!found)
        return 0;
    *start = (size_t)(found - text);
    for (found += sizeof mark - 1; found < end && *found >= '0' && *found <= '9'; found++) {
        if (code > 99999)
            return 0;
        code = code * 10 + (*found - '0');
    }
    return found < end && *found == '.' ? code : 0;
}

int chs__fail_server(chs_error *err, int fallback, const char *text, size_t length)
{
    size_t start = 0;
    int server_code = chs__server_code(text, length, &start);
    int code = server_code ? chs_server_code_class(server_code) : fallback;
    size_t shown = length - start;

    while (shown && (text[start + shown - 1] == '\n' || text[start + shown - 1] == '\r'))
        shown--;
    if (shown > sizeof err->message - 1)
        shown = sizeof err->message - 1;
    chs__describe(err, code, "%.*s", (int)shown, shown ? text + start : "");
    if (err)
        err->server_code = server_code;
    return code;
}

int chs__options(void *known, size_t known_size, const void *options, const char *what,
                 chs_error *err)
{
    const unsigned char *bytes = options;
    size_t size, i;

    if (!options)
        return 0;
    memcpy(&size, options, sizeof size);
    if (size < sizeof size || size > 65536)
        return CHS__FAIL(err, CHS_ERR_USAGE, "%s.size is %zu: start from the struct's _INIT macro",
                         what, size);
    for (i = known_size; i < size; i++)
        if (bytes[i])
            return CHS__FAIL(err, CHS_ERR_USAGE,
                             "%s has fields that this version of libchsink does not know: "
                             "they must be zero",
                             what);
    memcpy(known, options, size < known_size ? size : known_size);
    memcpy(known, &known_size, sizeof known_size);
    return 0;
}

/* The names are those of ClickHouse's src/Common/ErrorCodes.cpp. */
int chs_server_code_class(int server_code)
{
    switch (server_code) {
    case 192: /* UNKNOWN_USER */
    case 193: /* WRONG_PASSWORD */
    case 194: /* REQUIRED_PASSWORD */
    case 195: /* IP_ADDRESS_NOT_ALLOWED */
    case 497: /* ACCESS_DENIED */
    case 516: /* AUTHENTICATION_FAILED */
        return CHS_ERR_AUTH;
    case 159: /* TIMEOUT_EXCEEDED */
    case 160: /* TOO_SLOW */
        return CHS_ERR_TIMEOUT;
    case 394: /* QUERY_WAS_CANCELLED */
    case 734: /* QUERY_WAS_CANCELLED_BY_CLIENT */
        return CHS_ERR_CANCELLED;
    case 201: /* QUOTA_EXCEEDED */
    case 202: /* TOO_MANY_SIMULTANEOUS_QUERIES */
    case 203: /* NO_FREE_CONNECTION */
    case 209: /* SOCKET_TIMEOUT */
    case 210: /* NETWORK_ERROR */
    case 225: /* NO_ZOOKEEPER */
    case 236: /* ABORTED */
    case 241: /* MEMORY_LIMIT_EXCEEDED */
    case 242: /* TABLE_IS_READ_ONLY */
    case 243: /* NOT_ENOUGH_SPACE */
    case 252: /* TOO_MANY_PARTS */
    case 279: /* ALL_CONNECTION_TRIES_FAILED */
    case 285: /* TOO_FEW_LIVE_REPLICAS */
    case 286: /* UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE */
    case 319: /* UNKNOWN_STATUS_OF_INSERT */
    case 439: /* CANNOT_SCHEDULE_TASK */
    case 473: /* DEADLOCK_AVOIDED */
    case 745: /* SERVER_OVERLOADED */
    case 999: /* KEEPER_EXCEPTION */
        return CHS_ERR_SERVER_RETRY;
    default:
        return CHS_ERR_SERVER_FINAL;
    }
}

chs_retry chs_error_retry(const chs_error *err)
{
    if (!err)
        return CHS_RETRY_NEVER;
    switch (err->code) {
    case CHS_ERR_SERVER_RETRY:
        /* Refused before the statement began, so nothing of it happened. */
        if (err->server_code == 201 || err->server_code == 202 || err->server_code == 745)
            return CHS_RETRY_FREELY;
        return CHS_RETRY_SAME_TOKEN;
    case CHS_ERR_NETWORK:
    case CHS_ERR_TIMEOUT:
    case CHS_ERR_CANCELLED:
        return CHS_RETRY_SAME_TOKEN;
    default:
        return CHS_RETRY_NEVER;
    }
}

const char *chs_code_name(int code)
{
    static const char *const names[] = {
        "ok",      "usage", "no_memory",    "limit",        "format",      "network",
        "timeout", "auth",  "server_retry", "server_final", "unavailable", "cancelled",
    };

    if (code > 0 || code < CHS_ERR_CANCELLED)
        return "unknown";
    return names[-code];
}
