/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack jcmd`: runs a diagnostic command in a JVM, and needs no JDK for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/attach_call.h"
#include "cli/commands/jvm_find.h"
#include "cli/commands/jvm_json.h"
#include "cli/options/options.h"

/* Joins the words with spaces; false when they do not fit. */
static bool join(char *out, size_t cap, char **words, int n)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        int put = snprintf(out + used, cap - used, "%s%s", i == 0 ? "" : " ", words[i]);
        if (put < 0 || (size_t)put >= cap - used)
            return false;
        used += (size_t)put;
    }
    return true;
}

static int show(const attach_request *request, const attach_result *result, const attach_text *text,
                bool json)
{
    const char *words = text->p == NULL ? "" : text->p;
    bool shown = true;
    if (json)
        shown =
            json_print(json_pack("{s:i, s:s, s:i, s:s}", "pid", request->identity.pid, "command",
                                 request->args[0], "code", result->reply_code, "text", words));
    else
        shown = fputs(words, stdout) >= 0 && fflush(stdout) == 0;
    return shown && result->reply_code == 0 ? EXIT_WHOLE : EXIT_UNREADABLE;
}

static int run(const attach_jvm *jvm, char **words, int n, bool json)
{
    static attach_request request;
    attach_result result;
    attach_text text = {NULL, 0};
    attach_error err = {0};
    if (!attach_call_prepare(&request, jvm, ATTACH_OP_COMMAND))
        return EXIT_UNREADABLE;
    (void)snprintf(request.command, sizeof(request.command), "jcmd");
    request.n_args = 1;
    if (!join(request.args[0], sizeof(request.args[0]), words, n)) {
        complain("the command is longer than %d bytes", ATTACH_ARG_MAX);
        return EXIT_USAGE;
    }
    if (n == 0)
        (void)snprintf(request.args[0], sizeof(request.args[0]), "help");
    int rc = EXIT_UNREADABLE;
    if (attachclient_run(&result, &request, attach_text_collect, &text, NULL, &err) == ATTACH_OK)
        rc = show(&request, &result, &text, json);
    else
        attach_call_complain(&err);
    free(text.p);
    return rc;
}

static int jcmd_run(cli_options *o)
{
    attach_jvm jvm;
    if (!jvm_find(&jvm, o->operands[0]))
        return EXIT_UNREADABLE;
    return run(&jvm, o->operands + 1, o->operand_count - 1, o->json);
}

const command jcmd_command = {
    .name = "jcmd",
    .summary = "Run a diagnostic command in a running JVM",
    .usage = "[--json] PID|NAME [COMMAND [ARGUMENTS...]]",
    .about = "Runs one of the JVM's own diagnostic commands and prints its answer, as the JDK's "
             "jcmd does, also in containers and without a JDK. Without COMMAND it runs `help`, "
             "which lists them.",
    .ending =
        "Exit codes: 0 done; 1 the JVM cannot be reached or refuses the command; 2 wrong usage.",
    .bit = OF_JCMD,
    .operands = OPERANDS_JVM_COMMAND,
    .run = jcmd_run,
};
