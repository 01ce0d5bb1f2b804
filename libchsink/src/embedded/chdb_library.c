/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded/chdb_library_impl.h"

/* The path at which the install puts libchdb.so. */
#define INSTALLED CHS_LIBCHDB_DIR "/libchdb.so"

#define SERVER_HINT                                                                                \
    "Install libchdb.so there or name it in HOTSTACK_LIBCHDB, or use a ClickHouse server by its "  \
    "URL instead"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITISED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SANITISED)
static const bool sanitised = true;
#else
static const bool sanitised = false;
#endif

static const struct symbol {
    const char *name;
    size_t offset;
} symbols[] = {
    {"chdb_version", offsetof(chs__chdb, version)},
    {"chdb_set_signal_handlers_enabled", offsetof(chs__chdb, set_signal_handlers)},
    {"chdb_connect", offsetof(chs__chdb, connect)},
    {"chdb_close_conn", offsetof(chs__chdb, close)},
    {"chdb_classify_query_n", offsetof(chs__chdb, classify)},
    {"chdb_query_with_params_n", offsetof(chs__chdb, query)},
    {"chdb_stream_query_with_params_n", offsetof(chs__chdb, stream_query)},
    {"chdb_stream_fetch_result", offsetof(chs__chdb, stream_fetch)},
    {"chdb_stream_cancel_query", offsetof(chs__chdb, stream_cancel)},
    {"chdb_stream_insert_n", offsetof(chs__chdb, insert)},
    {"chdb_stream_append", offsetof(chs__chdb, insert_append)},
    {"chdb_stream_done", offsetof(chs__chdb, insert_done)},
    {"chdb_stream_insert_error", offsetof(chs__chdb, insert_error)},
    {"chdb_destroy_insert_stream", offsetof(chs__chdb, insert_free)},
    {"chdb_result_buffer", offsetof(chs__chdb, answer_data)},
    {"chdb_result_length", offsetof(chs__chdb, answer_length)},
    {"chdb_result_error", offsetof(chs__chdb, answer_error)},
    {"chdb_destroy_query_result", offsetof(chs__chdb, answer_free)},
};

static int bind_symbols(chs__chdb *out, const char *path, chs_error *err)
{
    size_t i;

    for (i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(out->handle, symbols[i].name);

        if (!address)
            return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                             "%s has no function %s: it is not a libchdb.so of version 26.7 or "
                             "later",
                             path, symbols[i].name);
        memcpy((char *)out + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

int chs__chdb_load(chs__chdb *out, const char *path, chs_error *err)
{
    if (sanitised)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                         "The embedded store cannot run in a build with sanitisers: use a "
                         "ClickHouse server by its URL");
    if (!path)
        path = secure_getenv("HOTSTACK_LIBCHDB");
    if (!path || !path[0])
        path = access(INSTALLED, R_OK) == 0 ? INSTALLED : "libchdb.so";
    memset(out, 0, sizeof *out);
    /* The engine's threads outlive every handle, so the library is never unloaded. */
    out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!out->handle)
        return CHS__FAIL(err, CHS_ERR_UNAVAILABLE,
                         "The embedded store's library cannot be loaded: %s (looked for %s). %s.",
                         dlerror(), strchr(path, '/') ? path : INSTALLED " and libchdb.so",
                         SERVER_HINT);
    return bind_symbols(out, path, err);
}
