/* SPDX-License-Identifier: Apache-2.0 */
#include <base/log.h>

#include <base/utf8.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Whether it is a control character of ASCII, or one of those encoded as C2 80 to C2 9F: a terminal
 * obeys both. */
static bool is_control(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;

    return bytes[0] < 0x20 || bytes[0] == 0x7f ||
           (size == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

static void replace_unprintable(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t size = utf8_sequence((const unsigned char *)text, left);
        if (size == 0 || is_control(text, size)) {
            size = size == 0 ? 1 : size;
            memset(text, '?', size);
        }
        text += size;
        left -= size;
    }
}

void log_line(const char *format, ...)
{
    char line[1024], when[32];
    time_t now = time(NULL);
    struct tm utc;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    replace_unprintable(line);
    gmtime_r(&now, &utc);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void)fprintf(stderr, "%s %s: %s\n", when, program_invocation_short_name, line);
}

void log_message(void *context, const char *message)
{
    (void)context;
    log_line("%s", message);
}
