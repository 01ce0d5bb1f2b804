/* SPDX-License-Identifier: Apache-2.0 */
#include <base/log.h>
#include <string.h>
#include <strings.h>

#include "api.h"
#include "session_body.h"

static void answer_login(api *a, login result, const char *session, const char *peer,
                         http_response *response)
{
    switch (result) {
    case LOGIN_OK:
        http_response_status(response, 204);
        api_set_session(a, response, session, SESSION_SECONDS);
        return;
    case LOGIN_LIMITED:
        http_response_error(response, 429, "rate_limited",
                            "Too many failed logins from this address: wait a minute.");
        http_response_retry_after(response, AUTH_FAILURE_WINDOW_SECONDS);
        break;
    case LOGIN_WRONG:
        http_response_error(response, 401, "unauthenticated", "The token or code is not valid.");
        break;
    }
    log_line("refused: a login from %s", peer);
    metrics_add(a->metrics, METRIC_AUTH_REFUSALS, "login", NULL, 1);
}

void api_session_open(void *context, const http_request *request, http_response *response)
{
    api *a = ((const api_route *)context)->api;
    const char *type = http_request_header(request, "Content-Type");
    char session[SESSION_CHARS + 1] = "";
    session_body body;
    size_t length;
    const char *data = http_request_body(request, &length);

    if (!api_same_origin(request, response))
        return;
    if (type == NULL || strncasecmp(type, "application/json", 16) != 0 ||
        session_body_parse(&body, data, length) != 0) {
        http_response_error(response, 400, "bad_request",
                            "The body must be JSON: {\"token\": \"...\"} or {\"code\": \"...\"}.");
        return;
    }
    login result =
        auth_login(a->auth, body.token[0] != '\0' ? body.token : NULL,
                   body.code[0] != '\0' ? body.code : NULL, http_request_peer(request), session);
    explicit_bzero(&body, sizeof(body));
    answer_login(a, result, session, http_request_peer(request), response);
    explicit_bzero(session, sizeof(session));
}

void api_session_close(void *context, const http_request *request, http_response *response)
{
    api *a = ((const api_route *)context)->api;
    char session[SESSION_CHARS + 1];

    if (http_request_cookie(request, API_SESSION_COOKIE, session, sizeof(session)) != NULL)
        auth_logout(a->auth, session);
    http_response_status(response, 204);
    api_set_session(a, response, "", 0);
}
