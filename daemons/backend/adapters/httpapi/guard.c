/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asking: before the body is read, on the server's own thread; nothing here blocks. */
#include <base/log.h>
#include <string.h>
#include <strings.h>

#include "api.h"

const principal *api_who(const http_request *request)
{
    return http_request_user(request);
}

static const principal *by_bearer(api *a, const char *field)
{
    static const char scheme[] = "Bearer ";

    if (strncasecmp(field, scheme, sizeof(scheme) - 1) != 0)
        return NULL;
    const char *token = field + sizeof(scheme) - 1;
    return auth_by_token(a->auth, token, strlen(token));
}

static const principal *find_principal(api *a, const http_request *request)
{
    char session[AUTH_SESSION_CHARS + 1];
    const char *field = http_request_header(request, "Authorization");

    if (field != NULL)
        return by_bearer(a, field);
    if (http_request_cookie(request, API_SESSION_COOKIE, session, sizeof(session)) == NULL)
        return NULL;
    return auth_by_session(a->auth, session, NULL);
}

bool api_same_origin(const http_request *request, http_response *response)
{
    const char *origin = http_request_header(request, "Origin");
    const char *host = http_request_header(request, "Host");
    const char *rest = origin != NULL ? strstr(origin, "://") : NULL;

    if (origin == NULL || (rest != NULL && host != NULL && strcasecmp(rest + 3, host) == 0))
        return true;
    http_response_error(response, 403, "forbidden_origin",
                        "This call must come from the backend's own page.");
    return false;
}

static void count_refusal(api *a, const char *why)
{
    metrics_add(a->metrics, "hotstack_backend_auth_refusals_total",
                "Calls refused for want of a token or of its role.", "why", why, 1);
}

bool api_admit(void *context, http_request *request, http_response *response)
{
    const api_route *route = context;
    api *a = route->api;
    const char *method = http_request_method(request);

    if (route->open)
        return true;
    const principal *who = find_principal(a, request);
    if (who == NULL) {
        count_refusal(a, "unauthenticated");
        http_response_error(response, 401, "unauthenticated",
                            "This call needs a valid token or session.");
        http_response_header(response, "WWW-Authenticate", "Bearer");
        return false;
    }
    if (!(who->role == ROLE_COLLECTOR ? route->for_collectors : route->for_users)) {
        count_refusal(a, "role");
        log_line("refused: %s asked for %s %s, which its role does not allow", who->name, method,
                 http_request_path(request));
        http_response_error(response, 403, "forbidden_role",
                            "The token's role does not allow this call.");
        return false;
    }
    /* A cookie goes along with what another site's page sends, a bearer token does not. */
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
        !api_same_origin(request, response))
        return false;
    http_request_set_user(request, who);
    return true;
}
