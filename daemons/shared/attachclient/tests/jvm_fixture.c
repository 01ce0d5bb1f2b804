/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm_fixture.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_LENGTH   512
#define WAIT_STEPS    6000 /* of 10 ms: a limit for a broken machine, not for a slow one */
#define INODES_MAX    32
#define PASSING_STEPS 500  /* of 10 ms: for a directory without a mark */
#define SHOWN_MAX     3000 /* check carries messages of at most 4096 bytes */

extern char **environ;

const char *const jvm_fixture_as_nobody[] = {
    "setpriv", "--reuid", JVM_FIXTURE_NOBODY, "--regid", JVM_FIXTURE_NOBODY, "--clear-groups", NULL,
};

static void cache_path(char out[PATH_LENGTH], const char *rest)
{
    const char *cache = getenv("HOTSTACK_CACHE"), *home = getenv("HOME");
    if (cache != NULL)
        (void)snprintf(out, PATH_LENGTH, "%s/%s", cache, rest);
    else
        (void)snprintf(out, PATH_LENGTH, "%s/.cache/hotstack/%s", home == NULL ? "" : home, rest);
}

/* Returns Debian's java, which every user can run. */
static const char *system_java(void)
{
    static const char *const places[] = {"/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
                                         "/usr/lib/jvm/java-17-openjdk-arm64/bin/java"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

const char *jvm_fixture_java(const char *version)
{
    static char path[PATH_LENGTH];
    char rest[64];
    (void)snprintf(rest, sizeof(rest), "jdk/%s/bin/java", version);
    cache_path(path, rest);
    if (access(path, X_OK) == 0)
        return path;
    return strcmp(version, "17") == 0 ? system_java() : NULL;
}

const char *jvm_fixture_thread_agent(void)
{
    return getenv("HOTSTACK_THREAD_AGENT");
}

const char *jvm_fixture_any(void)
{
    static const char *const versions[] = {"17", "21", "11", "25"};
    const char *wanted = getenv("HOTSTACK_TEST_JDK");
    if (wanted != NULL)
        return jvm_fixture_java(wanted);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (jvm_fixture_java(versions[i]) != NULL)
            return jvm_fixture_java(versions[i]);
    return NULL;
}

/* Whether everybody may pass every directory of an absolute path. */
static bool open_to_all(const char *path)
{
    char part[PATH_LENGTH];
    struct stat st;
    for (size_t i = 1; i < sizeof(part) && path[i - 1] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        (void)snprintf(part, sizeof(part), "%.*s", (int)i, path);
        if (stat(part, &st) != 0 || (st.st_mode & S_IXOTH) == 0)
            return false;
    }
    return true;
}

const char *jvm_fixture_shared(void)
{
    return open_to_all(TARGET_CLASSES) ? system_java() : NULL;
}

const char *jvm_fixture_classes(void)
{
    return TARGET_CLASSES;
}

const char *jvm_fixture_profiler(void)
{
    static char path[PATH_LENGTH];
    const char *given = getenv("HOTSTACK_ASYNC_PROFILER");
    if (given != NULL)
        return access(given, R_OK) == 0 ? given : NULL;
#if defined(__aarch64__)
    cache_path(path, "async-profiler/linux-arm64/libasyncProfiler.so");
#else
    cache_path(path, "async-profiler/linux-x64/libasyncProfiler.so");
#endif
    return access(path, R_OK) == 0 ? path : NULL;
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
}

char *jvm_fixture_output(const jvm_fixture *jvm)
{
    FILE *file = fopen(jvm->output, "r");
    char *text = calloc(1, 65536);
    ck_assert_ptr_nonnull(text);
    if (file != NULL) {
        (void)fread(text, 1, 65535, file);
        (void)fclose(file);
    }
    return text;
}

void jvm_fixture_expect_silence(const jvm_fixture *jvm)
{
    char shown[SHOWN_MAX];
    size_t n = 0;
    char *text = jvm_fixture_output(jvm);
    for (const char *c = text; *c != '\0' && n + 3 < sizeof(shown); c++) {
        if (*c == '\n')
            shown[n++] = '\\';
        shown[n++] = *c == '\n' ? 'n' : *c;
    }
    shown[n] = '\0';
    ck_assert_msg(strcmp(text, "ready\n") == 0, "the JVM printed: %s", shown);
    free(text);
}

static bool is_ready(const jvm_fixture *jvm)
{
    char *text = jvm_fixture_output(jvm);
    bool ready = strstr(text, "ready") != NULL;
    free(text);
    return ready;
}

static bool find_by_token(attach_identity *out, const char *token)
{
    attach_jvm_list *list = NULL;
    bool found = false;
    ck_assert_int_eq(attach_jvm_list_read(&list, NULL, NULL), ATTACH_OK);
    for (size_t i = 0; i < attach_jvm_list_count(list); i++) {
        const attach_jvm *jvm = attach_jvm_list_at(list, i);
        if (strstr(jvm->command_line, token) != NULL && jvm->libjvm[0] != '\0') {
            *out = jvm->identity;
            found = true;
        }
    }
    attach_jvm_list_free(list);
    return found;
}

/* Restores signals that the parent, such as nohup, ignores: a JVM with -Xcheck:jni warns of
 * them. */
static void default_signals(posix_spawnattr_t *attributes)
{
    sigset_t all;
    (void)sigfillset(&all);
    ck_assert_int_eq(posix_spawnattr_init(attributes), 0);
    (void)posix_spawnattr_setsigdefault(attributes, &all);
    (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

static void spawn(jvm_fixture *out, const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *copy[JVM_ARGS_MAX + 1];
    size_t n = 0;
    for (; argv[n] != NULL; n++)
        ck_assert_ptr_nonnull(copy[n] = strdup(argv[n]));
    copy[n] = NULL;
    ck_assert_int_eq(posix_spawn_file_actions_init(&actions), 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, out->output, O_WRONLY | O_APPEND, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, 1, 2);
    (void)posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    ck_assert_ptr_nonnull(copy[0]);
    default_signals(&attributes);
    ck_assert_int_eq(posix_spawnp(&out->child, copy[0], &actions, &attributes, copy, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    for (size_t i = 0; i < n; i++)
        free(copy[i]);
}

/* Removes the socket of an earlier process with that pid, if the JVM cannot because another user
 * owns it. */
static void remove_socket(const jvm_fixture *jvm)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/tmp/.java_pid%d", jvm->identity.pid);
    (void)unlink(path);
}

void jvm_fixture_start(jvm_fixture *out, const char *java, const char *const *wrapper,
                       const char *const *flags)
{
    static const char *const program[] = {"Target", NULL};
    jvm_fixture_run(out, java, wrapper, flags, program);
}

void jvm_fixture_run(jvm_fixture *out, const char *java, const char *const *wrapper,
                     const char *const *flags, const char *const *program)
{
    static int count;
    const char *argv[JVM_ARGS_MAX + 1];
    char token[64];
    size_t n = 0;
    memset(out, 0, sizeof(*out));
    (void)setenv("HOTSTACK_TEST_CLASSES", TARGET_CLASSES, 1); /* for wrappers */
    (void)snprintf(out->output, sizeof(out->output), "/tmp/libattach-jvm-XXXXXX");
    int fd = mkstemp(out->output);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    (void)snprintf(token, sizeof(token), "-Dhotstack.test=%d-%d", (int)getpid(), count++);
    for (; wrapper != NULL && *wrapper != NULL; wrapper++)
        argv[n++] = *wrapper;
    argv[n++] = java;
    argv[n++] = token;
    argv[n++] = "-Xmx64m";
    for (; flags != NULL && *flags != NULL; flags++)
        argv[n++] = *flags;
    argv[n++] = "-cp";
    argv[n++] = TARGET_CLASSES;
    for (; *program != NULL; program++)
        argv[n++] = *program;
    argv[n] = NULL;
    spawn(out, argv);
    for (int i = 0; i < WAIT_STEPS; i++) {
        if (is_ready(out) && find_by_token(&out->identity, token)) {
            remove_socket(out);
            return;
        }
        ck_assert_msg(waitpid(out->child, NULL, WNOHANG) == 0, "the JVM did not start: %s",
                      jvm_fixture_output(out));
        nap();
    }
    ck_abort_msg("the JVM did not come up: %s", jvm_fixture_output(out));
}

void jvm_fixture_stop(jvm_fixture *jvm)
{
    if (jvm->identity.pid > 0)
        (void)kill(jvm->identity.pid, SIGKILL);
    (void)kill(jvm->child, SIGKILL);
    (void)waitpid(jvm->child, NULL, 0);
    (void)unlink(jvm->output);
    remove_socket(jvm);
}

void jvm_fixture_freeze(const jvm_fixture *jvm)
{
    int status = 0;
    ck_assert_int_eq(jvm->child, jvm->identity.pid);
    ck_assert_int_eq(kill(jvm->child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(jvm->child, &status, WUNTRACED), jvm->child);
    ck_assert(WIFSTOPPED(status));
}

int jvm_fixture_mapped(const jvm_fixture *jvm, const char *part)
{
    char path[64], line[4096];
    unsigned long inodes[INODES_MAX];
    int n = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/maps", jvm->identity.pid);
    FILE *maps = fopen(path, "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long inode = 0;
        if (strstr(line, part) == NULL || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
            continue;
        int known = 0;
        for (int i = 0; i < n; i++)
            known |= inodes[i] == inode;
        if (!known && n < INODES_MAX)
            inodes[n++] = inode;
    }
    (void)fclose(maps);
    return n;
}

/* Returns whether the directory stays. A tool of another test that works on this JVM makes a
 * directory for the answer, locks it, and removes it. */
static bool stays(int parent_fd, const char *name)
{
    struct stat st;
    for (int i = 0; i < PASSING_STEPS; i++) {
        int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return false;
        bool marked = flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0 &&
                      faccessat(fd, "session", F_OK, 0) == 0;
        (void)close(fd);
        if (marked)
            return true;
        nap();
    }
    return true;
}

int jvm_fixture_entries(const char *path, const char *prefix)
{
    int n = 0;
    const struct dirent *entry;
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL)
        n +=
            strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && stays(dirfd(dir), entry->d_name);
    (void)closedir(dir);
    return n;
}

int jvm_fixture_lock(const char *pattern)
{
    glob_t found;
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    int fd = open(found.gl_pathv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    globfree(&found);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    return fd;
}
