/* SPDX-License-Identifier: Apache-2.0 */
/* `hotstack threads`: shows the threads of a running JVM and what they do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output/ending.h"
#include "cli/threads/threads_ask.h"

/* Waits for the end of the window; returns false when a signal ended the wait. */
static bool wait_window(const cli_options *o)
{
    struct timespec left = {o->duration_ms / 1000, (long)(o->duration_ms % 1000) * 1000000};
    sigset_t ending;
    ending_signals(&ending);
    int got;
    while ((got = sigtimedwait(&ending, NULL, &left)) < 0 && errno == EINTR)
        continue;
    return got < 0;
}

static bool print_json(const threads_view *view, bool one_line)
{
    json_t *document = threads_json(view);
    size_t flags = one_line ? JSON_COMPACT : JSON_INDENT(2);
    bool printed = document != NULL && json_dumpf(document, stdout, flags) == 0 &&
                   putchar('\n') == '\n' && fflush(stdout) == 0;
    json_decref(document);
    return printed;
}

static bool show(const threads_asking *a, const attach_threads *now, const attach_threads *before)
{
    threads_view view;
    if (!threads_view_make(&view, &a->jvm, now, before, a->options->busy)) {
        complain("not enough memory to show the threads");
        return false;
    }
    if (a->options->watch && !a->options->json && isatty(STDOUT_FILENO) == 1)
        /* Moves the cursor home and clears the screen below it. */
        (void)fputs("\033[H\033[J", stdout);
    bool shown = a->options->json ? print_json(&view, a->options->watch)
                                  : threads_print_text(&view, a->options->top);
    if (!shown)
        complain("cannot write the output: %s", strerror(errno));
    threads_view_free(&view);
    return shown;
}

/* Returns the exit code. The user asked for a depth, and a sample leaves out threads to keep pauses
 * short; any other cut means that data is missing. */
static int verdict(const attach_threads *now)
{
    uint32_t missing =
        attach_threads_meta_of(now)->cut & ~(uint32_t)(ATTACH_CUT_DEPTH | ATTACH_CUT_PAUSE);
    return missing == 0 ? EXIT_WHOLE : EXIT_SALVAGED;
}

/* Takes the snapshots after the first, and compares each with the one before. */
static int follow(threads_asking *a, attach_threads *before)
{
    int rc = EXIT_WHOLE;
    bool more = true;
    while (more) {
        bool ended = before != NULL && !wait_window(a->options);
        if (ended && a->options->watch)
            break;
        attach_threads *now = threads_ask(a, true);
        bool shown = now != NULL && show(a, now, before);
        rc = shown ? verdict(now) : EXIT_UNREADABLE;
        attach_threads_free(before);
        before = now;
        more = shown && a->options->watch && !ended;
    }
    attach_threads_free(before);
    return rc;
}

static int threads_run(cli_options *o)
{
    static threads_asking a;
    attach_threads *first = NULL;
    if (o->synchronizers && !o->full) {
        complain("--synchronizers needs --full");
        return EXIT_USAGE;
    }
    if (o->watch && o->duration_ms == 0) {
        complain("--watch needs a --duration above 0");
        return EXIT_USAGE;
    }
    if (!threads_ask_open(&a, o))
        return EXIT_UNREADABLE;
    ending_block(); /* a signal must not end the program before it gives the lease back */
    if (o->duration_ms > 0) {
        first = threads_ask(&a, false);
        if (first == NULL)
            return EXIT_UNREADABLE;
    }
    int rc = follow(&a, first);
    if (!threads_ask_end(&a) && rc == EXIT_WHOLE)
        rc = EXIT_UNREADABLE;
    return rc;
}

const command threads_command = {
    .name = "threads",
    .summary = "Say what the threads of a JVM do: busy, blocked by whom, deadlocked",
    .usage = "[OPTIONS] PID|NAME",
    .about = "Prints what the threads of a running JVM do: threads that use the CPU, with their "
             "stacks; blocked threads and the threads that block them; waiting threads; and "
             "deadlocks, drawn as cycles. The JVM is stopped a few times, for some milliseconds in "
             "total, independent of the size of its heap.",
    .ending = "Exit codes: 0 done; 1 the JVM cannot be asked; 2 wrong usage; 3 done, but threads "
              "or stacks are missing, as the output says.",
    .bit = OF_THREADS,
    .operands = OPERANDS_JVM,
    .run = threads_run,
};
