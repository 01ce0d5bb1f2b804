/* SPDX-License-Identifier: Apache-2.0 */
/* Tells when a file has changed, also one that is replaced through a symbolic link, as the files of
 * a ConfigMap are. One thread. */
#ifndef COLLECTOR_ADAPTERS_FILE_WATCH_H
#define COLLECTOR_ADAPTERS_FILE_WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

typedef struct file_watch {
    int fd; /* readable when something happened beside the file; -1 = nothing is watched */
    const char *path; /* borrowed */
    struct stat last;
} file_watch;

/* NULL, or a directory that cannot be watched, gives a watch that never tells anything. */
void file_watch_open(file_watch *out, const char *path);
void file_watch_close(file_watch *watch);

/* Takes what has happened; whether the file is another than when this was asked last. */
bool file_watch_changed(file_watch *watch);

#endif
