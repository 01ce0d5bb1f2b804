/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.h: the log lines of every daemon, on standard error. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * Writes one line: the time in UTC, the program's name, and the message. Control characters and
 * bytes that are not UTF-8 become '?', so that text from clients cannot begin a line of its own. A
 * message of more than 1,023 bytes is cut. Any thread may call it.
 */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/* log_line in the form of a port's function; `context` is not used. */
void log_message(void *context, const char *message);

#endif
