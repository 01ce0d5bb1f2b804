/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "embedded/engine_impl.h"
#include "embedded/tokens_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Accessed under the lock, except for chdb and path, which do not change while any transport is
 * open. */
static struct {
    chs__chdb chdb;       /* handle NULL: not loaded yet */
    char *path;           /* canonical, while joined */
    chdb_session *keeper; /* the session that keeps the engine running */
    unsigned joined;
    const char *version;
} engine;

/* Loads the library and restores the caller's signal mask: chDB blocks SIGPIPE in the thread that
 * loads it or connects. */
static int load_quietly(chs__chdb *out, const char *path, chs_error *err)
{
    sigset_t mask;
    int rc;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    rc = chs__chdb_load(out, path, err);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return rc;
}

static chdb_session *connect_quietly(int argc, char **argv)
{
    sigset_t mask;
    chdb_session *session;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    session = engine.chdb.connect(argc, argv);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return session;
}

static void free_arguments(char **argv, size_t argc)
{
    while (argc)
        free(argv[--argc]);
    free(argv);
}

/* Makes the arguments: name, path, async_insert, the memory limit if there is one, settings. They
 * end with NULL as those of main() do. */
static char **make_arguments(size_t *argc, const chs_setting *settings, size_t count,
                             uint64_t max_memory)
{
    char **argv = calloc(count + 5, sizeof *argv);
    size_t used = 0, i;
    int length = 0;

    if (!argv)
        return NULL;
    argv[used++] = strdup("clickhouse");
    length |= asprintf(&argv[used++], "--path=%s", engine.path);
    argv[used++] = strdup("--async_insert=0");
    if (max_memory)
        length |= asprintf(&argv[used++], "--max_server_memory_usage=%llu",
                           (unsigned long long)max_memory);
    for (i = 0; i < count; i++)
        length |= asprintf(&argv[used++], "--%s=%s", settings[i].name, settings[i].value);
    *argc = used;
    if (length >= 0 && argv[0] && argv[2])
        return argv;
    free_arguments(argv, used);
    return NULL;
}

int chs__session_open(chdb_session **out, const chs_setting *settings, size_t count, chs_error *err)
{
    size_t argc;
    char **argv = make_arguments(&argc, settings, count, 0);

    *out = NULL;
    if (!argv)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory for a session of the embedded store");
    *out = connect_quietly((int)argc, argv);
    free_arguments(argv, argc);
    if (!*out)
        return CHS__FAIL(err, CHS_ERR_SERVER_FINAL,
                         "The embedded store refused a session: one of its %zu settings has a "
                         "value that ClickHouse cannot read",
                         count);
    return 0;
}

/*
 * Gives the canonical path of the data directory, which is created if absent; the caller frees it.
 */
static int canonical_path(char **out, const char *path, chs_error *err)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                         "The embedded store's directory %s cannot be made: %s", path,
                         strerror(errno));
    *out = realpath(path, NULL);
    if (!*out)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                         "The embedded store's directory %s cannot be opened: %s", path,
                         strerror(errno));
    return 0;
}

static int start(const chs_embedded_options *options, chs_error *err)
{
    size_t argc;
    char **argv;

    engine.chdb.set_signal_handlers(0);
    argv = make_arguments(&argc, NULL, 0, options->max_server_memory_usage);
    if (!argv)
        return CHS__FAIL(err, CHS_ERR_NO_MEMORY, "No memory to start the embedded store");
    engine.keeper = connect_quietly((int)argc, argv);
    free_arguments(argv, argc);
    if (!engine.keeper)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                         "The embedded store does not start on %s: another process may have it "
                         "open, or it cannot be written. One process per directory; end the other "
                         "one, or choose another directory",
                         options->path);
    engine.version = engine.chdb.version();
    return 0;
}

/* Joins the engine, or starts it. The caller holds the lock. path is canonical; the engine takes
 * ownership of it when it starts. */
static int join(const chs_embedded_options *options, char *path, chs_error *err)
{
    int rc;

    if (engine.joined) {
        if (strcmp(engine.path, path) != 0)
            return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                             "This process has the embedded store open on %s and cannot open %s "
                             "beside it",
                             engine.path, path);
        free(path);
        engine.joined++;
        return 0;
    }
    rc = chs__tokens_settle(path, err);
    if (rc)
        return rc;
    engine.path = path;
    rc = start(options, err);
    if (rc) {
        engine.path = NULL;
        return rc;
    }
    engine.joined = 1;
    return 0;
}

int chs__engine_join(const chs__chdb **out, const chs_embedded_options *options, chs_error *err)
{
    char *path = NULL;
    int rc = 0;

    (void)pthread_mutex_lock(&lock);
    if (!engine.chdb.handle) {
        chs__chdb loaded;

        rc = load_quietly(&loaded, options->library, err);
        if (!rc)
            engine.chdb = loaded;
    }
    if (!rc)
        rc = canonical_path(&path, options->path, err);
    if (!rc) {
        rc = join(options, path, err);
        if (rc)
            free(path);
    }
    (void)pthread_mutex_unlock(&lock);
    *out = rc ? NULL : &engine.chdb;
    return rc;
}

void chs__engine_leave(void)
{
    (void)pthread_mutex_lock(&lock);
    if (--engine.joined == 0) {
        engine.chdb.close(engine.keeper);
        engine.keeper = NULL;
        free(engine.path);
        engine.path = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
}

const char *chs_embedded_version(void)
{
    const char *version;

    (void)pthread_mutex_lock(&lock);
    version = engine.version;
    (void)pthread_mutex_unlock(&lock);
    return version;
}
