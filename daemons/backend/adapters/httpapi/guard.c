/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the caller of a request before its body is read, on one of the server's admitters. */
#include <base/log.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api.h"

const principal *api_who(const http_request *request)
{
    return http_request_user(request);
}

void api_set_session(const api *a, http_response *response, const char *session, unsigned seconds)
{
    char cookie[256];

    snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; Max-Age=%u; HttpOnly; SameSite=Strict%s",
             API_SESSION_COOKIE, session, seconds, a->secure_cookie ? "; Secure" : "");
    http_response_header(response, "Set-Cookie", cookie);
}

static admission_answer by_bearer(api *a, const char *field, const principal **who)
{
    static const char scheme[] = "Bearer ";

    if (strncasecmp(field, scheme, sizeof(scheme) - 1) != 0)
        return ADMISSION_STRANGER;
    const char *token = field + sizeof(scheme) - 1;
    return admission_decide(a->admission, token, strlen(token), who);
}

/* Finds the caller by the cookie, and renews the session in the answer. */
static admission_answer by_cookie(api *a, const http_request *request, http_response *response,
                                  const principal **who)
{
    char session[SESSION_CHARS + 1], renewed[SESSION_CHARS + 1];

    if (http_request_cookie(request, API_SESSION_COOKIE, session, sizeof(session)) == NULL)
        return ADMISSION_STRANGER;
    *who = auth_by_session(a->auth, session, renewed);
    if (renewed[0] != '\0')
        api_set_session(a, response, renewed, SESSION_SECONDS);
    return *who != NULL ? ADMISSION_KNOWN : ADMISSION_STRANGER;
}

static admission_answer find_principal(api *a, const http_request *request, http_response *response,
                                       const principal **who)
{
    const char *field = http_request_header(request, "Authorization");

    *who = NULL;
    return field != NULL ? by_bearer(a, field, who) : by_cookie(a, request, response, who);
}

static void release_principal(void *who)
{
    principal_release(who);
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
    metrics_add(a->metrics, METRIC_AUTH_REFUSALS, why, NULL, 1);
}

static bool refuse_unknown(api *a, admission_answer answer, http_response *response)
{
    if (answer == ADMISSION_UNDECIDED) {
        count_refusal(a, "undecided");
        http_response_error(response, 503, "over_capacity",
                            "Who holds this token cannot be told now: try again.");
        http_response_retry_after(response, 1);
        return false;
    }
    count_refusal(a, "unauthenticated");
    http_response_error(response, 401, "unauthenticated",
                        "This call needs a valid token or session.");
    http_response_header(response, "WWW-Authenticate", "Bearer");
    return false;
}

bool api_admit(void *context, http_request *request, http_response *response)
{
    const api_route *route = context;
    api *a = route->api;
    const char *method = http_request_method(request);
    const principal *who;
    admission_answer answer = find_principal(a, request, response, &who);

    if (answer != ADMISSION_KNOWN)
        return refuse_unknown(a, answer, response);
    /* The principal stays valid until the call ends, even if the tokens change during the call. */
    http_request_set_user(request, (void *)(uintptr_t)who, release_principal);
    if (!(who->role == ROLE_COLLECTOR ? route->for_collectors : route->for_users)) {
        count_refusal(a, "role");
        log_line("refused: %s asked for %s %s, which its role does not allow", who->name, method,
                 http_request_path(request));
        http_response_error(response, 403, "forbidden_role",
                            "The token's role does not allow this call.");
        return false;
    }
    /* A browser also sends the cookie with requests of other sites' pages, but not a bearer
     * token. */
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           api_same_origin(request, response);
}
