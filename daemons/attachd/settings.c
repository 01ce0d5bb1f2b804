/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const config_field fields[] = {
    {.key = "socket",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "/run/hotstack/attachd.sock",
     .help = "Socket to listen on, an absolute path of at most 100 bytes; the collector and the "
             "command line are given the same."},
    {.key = "allow_uids",
     .type = CONFIG_LIST,
     .help = "Numeric users whose connections are accepted beside root and our own; the "
             "collector's."},
    {.key = "state_dir",
     .type = CONFIG_STRING,
     .flags = CONFIG_REQUIRED,
     .fallback = "/var/lib/hotstack/attachd",
     .help = "Directory for the installation id and for windows that wait to be fetched."},
    {.key = "installation_id",
     .type = CONFIG_STRING,
     .help = "Names what is ours in a JVM, 1 to 32 of a-z and 0-9; empty = one made at the first "
             "start and kept in state_dir."},
    {.key = "profiler_library",
     .type = CONFIG_STRING,
     .help = "libasyncProfiler.so for the JVMs of this host; empty = the installed one."},
    {.key = "thread_agent",
     .type = CONFIG_STRING,
     .help = "libhotstackthreads.so for the JVMs of this host; empty = the installed one."},
    {.key = "worker",
     .type = CONFIG_STRING,
     .help = "The program hotstack-attach-worker; empty = the installed one."},
    {.key = "proc_root",
     .type = CONFIG_STRING,
     .help = "Where the host's procfs is mounted; empty = /proc."},
    {.key = "leave_sessions",
     .type = CONFIG_BOOL,
     .fallback = "false",
     .help = "At the end leave sessions running, for the next attachd to take over without a gap; "
             "without it every session is stopped and its files are removed."},
    {.key = "adopt_grace",
     .type = CONFIG_DURATION,
     .fallback = "2m",
     .max = 86400000,
     .help = "How long after the start a session that an earlier run left may wait to be taken "
             "over before it is stopped."},
    {.key = "lease",
     .type = CONFIG_DURATION,
     .fallback = "15m",
     .max = 86400000,
     .help = "A session whose owner asks for no window for so long is stopped; longer than the "
             "collector's window. 0 = never."},
    {.key = "restart_age",
     .type = CONFIG_DURATION,
     .fallback = "6h",
     .min = 60000,
     .max = 604800000,
     .help = "A session of that age is begun anew at the end of a window, which costs some 100 ms "
             "of recording. Were everything of ours gone, the profiler ends by itself an hour "
             "later."},
    {.key = "limits.restart_bytes",
     .type = CONFIG_BYTES,
     .fallback = "32m",
     .min = 65536,
     .help = "A session whose windows are that large, and that is older than 10 minutes, is begun "
             "anew: each window carries every stack seen since the start."},
    {.key = "limits.operations",
     .type = CONFIG_INT,
     .fallback = "64",
     .min = 1,
     .max = 256,
     .help = "Operations that run side by side, each on another JVM."},
    {.key = "limits.window_bytes",
     .type = CONFIG_BYTES,
     .fallback = "256m",
     .min = 65536,
     .help = "Largest recording of one window; a session that makes a larger one is stopped."},
    {.key = "limits.spool_bytes",
     .type = CONFIG_BYTES,
     .fallback = "1g",
     .min = 65536,
     .help = "All windows that wait to be fetched; the oldest go first."},
    {.key = "limits.windows",
     .type = CONFIG_INT,
     .fallback = "1024",
     .min = 1,
     .max = 65536,
     .help = "How many windows may wait to be fetched; the oldest go first."},
};

const config_program attachd_program = {
    .name = "hotstack-attachd",
    .version = HOTSTACK_VERSION,
    .summary = "Starts, reads and stops profiling sessions in the JVMs of this host, for "
               "hotstack-collector and the command line. Runs as root with four capabilities, or "
               "as an ordinary user for his own JVMs.",
    .default_file = "/etc/hotstack/attachd.yaml",
    .fields = fields,
    .count = sizeof(fields) / sizeof(fields[0]),
};

size_t settings_uids(const config_section *settings, unsigned uids[UIDS_MAX], char *message,
                     size_t size)
{
    size_t count = 0;
    uids[count++] = 0;
    if (geteuid() != 0)
        uids[count++] = (unsigned)geteuid();
    size_t listed = config_list_count(settings, "allow_uids");
    if (listed + count > UIDS_MAX) {
        (void)snprintf(message, size, "allow_uids holds more than %zu users", UIDS_MAX - count);
        return 0;
    }
    for (size_t i = 0; i < listed; i++) {
        const char *text = config_list_item(settings, "allow_uids", i);
        char *end = NULL;
        errno = 0;
        unsigned long uid = strtoul(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || uid >= UINT32_MAX) {
            (void)snprintf(message, size, "allow_uids: \"%.40s\" is not a numeric user id", text);
            return 0;
        }
        uids[count++] = (unsigned)uid;
    }
    return count;
}

static bool is_installation_id(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
    return length > 0 && length < INSTALLATION_ID_SIZE && text[length] == '\0';
}

/* Makes a directory with its parents, all of them accessible to this user only. */
static int make_directories(const char *path, char *message, size_t size)
{
    char part[512];
    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part)) {
        (void)snprintf(message, size, "state_dir is longer than 500 bytes");
        return -1;
    }
    for (char *at = part + 1;; at++) {
        char was = *at;
        if (was != '/' && was != '\0')
            continue;
        *at = '\0';
        if (mkdir(part, was == '\0' ? 0700 : 0755) != 0 && errno != EEXIST) {
            (void)snprintf(message, size, "cannot make %s: %s; set state_dir", part,
                           strerror(errno));
            return -1;
        }
        *at = was;
        if (was == '\0')
            return 0;
    }
}

static void new_id(char out[INSTALLATION_ID_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    unsigned char bytes[12] = {0};
    while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        continue;
    for (size_t i = 0; i < sizeof(bytes); i++)
        out[i] = letters[bytes[i] % 32];
    out[sizeof(bytes)] = '\0';
}

static int keep_id(const char *path, const char *id)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    ssize_t length = (ssize_t)strlen(id);
    int rc = write(fd, id, (size_t)length) == length && fsync(fd) == 0 ? 0 : -1;
    close(fd);
    return rc;
}

int settings_installation_id(char out[INSTALLATION_ID_SIZE], const config_section *settings,
                             char *message, size_t size)
{
    const char *given = config_string(settings, "installation_id");
    const char *directory = config_string(settings, "state_dir");
    if (given[0] != '\0') {
        if (!is_installation_id(given)) {
            (void)snprintf(message, size,
                           "installation_id: \"%.40s\" is not 1 to 32 of a-z and 0-9", given);
            return -1;
        }
        (void)snprintf(out, INSTALLATION_ID_SIZE, "%s", given);
        return 0;
    }
    char path[600];
    if (make_directories(directory, message, size) != 0)
        return -1;
    (void)snprintf(path, sizeof(path), "%s/installation-id", directory);
    char *kept = NULL;
    if (config_read_secret(&kept, path, NULL) == 0 && is_installation_id(kept)) {
        (void)snprintf(out, INSTALLATION_ID_SIZE, "%s", kept);
        free(kept);
        return 0;
    }
    free(kept);
    new_id(out);
    if (keep_id(path, out) == 0)
        return 0;
    (void)snprintf(message, size, "cannot write %.300s: %s; remove it, or set state_dir", path,
                   strerror(errno));
    return -1;
}

int settings_spool_dir(char *out, size_t out_size, const config_section *settings, char *message,
                       size_t size)
{
    const char *directory = config_string(settings, "state_dir");
    if (make_directories(directory, message, size) != 0)
        return -1;
    (void)snprintf(out, out_size, "%s", directory);
    int fd = open(out, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else if (errno == EOPNOTSUPP || errno == EISDIR)
        out[0] = '\0'; /* this file system does not support O_TMPFILE */
    else
        (void)snprintf(message, size, "cannot write to %.300s: %s; set state_dir", out,
                       strerror(errno));
    return fd >= 0 || out[0] == '\0' ? 0 : -1;
}
