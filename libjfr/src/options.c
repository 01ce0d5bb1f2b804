/* SPDX-License-Identifier: Apache-2.0 */
#include "options_impl.h"

#include "error_impl.h"
#include "memory_impl.h"

#include <stdbool.h>
#include <string.h>

/* Recursion follows the nesting, so callers cannot raise the limit to where the stack would
 * overflow. */
enum { DEPTH_CEILING = 256 };

static bool tail_is_zero(const void *given, size_t size, size_t known)
{
    const unsigned char *bytes = given;
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

int jfr__options_copy(void *out, size_t known, const void *given, size_t size, const char *what,
                      jfr_error *err)
{
    if (size < sizeof(size_t))
        return jfr__fail(err, JFR_ERR_USAGE, 0, "%s has no size: start from its _INIT macro.",
                         what);
    if (!tail_is_zero(given, size, known))
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "%s sets fields that this version of libjfr does not know.", what);
    memcpy(out, given, size < known ? size : known);
    return 0;
}

static void default_u32(uint32_t *value, uint32_t fallback)
{
    if (*value == 0)
        *value = fallback;
}

static void default_u64(uint64_t *value, uint64_t fallback)
{
    if (*value == 0)
        *value = fallback;
}

static int check(const jfr_options *o, const jfr_allocator *a, jfr_error *err)
{
    const uint32_t known = JFR_WALK_UNFINISHED | JFR_KEEP_IDLE_WAITS | JFR_KEEP_NATIVE_SAMPLES;
    if ((o->flags & ~known) != 0 || o->reserved != 0)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_options.flags or reserved have bits that are not defined.");
    if (a->alloc == NULL || a->realloc == NULL || a->free == NULL)
        return jfr__fail(err, JFR_ERR_USAGE, 0,
                         "jfr_options.allocator must set alloc, realloc and free.");
    if (o->max_metadata_depth > DEPTH_CEILING)
        return jfr__fail(err, JFR_ERR_USAGE, 0, "jfr_options.max_metadata_depth may be %d at most.",
                         DEPTH_CEILING);
    return 0;
}

int jfr__options_resolve(jfr_options *out, jfr_allocator *allocator, jfr_intervals *intervals,
                         const jfr_options *given, jfr_error *err)
{
    *out = (jfr_options)JFR_OPTIONS_INIT;
    *intervals = (jfr_intervals)JFR_INTERVALS_INIT;
    int rc = 0;
    if (given != NULL)
        rc = jfr__options_copy(out, sizeof(*out), given, given->size, "jfr_options", err);
    if (rc == 0 && out->inherit != NULL)
        rc = jfr__options_copy(intervals, sizeof(*intervals), out->inherit, out->inherit->size,
                               "jfr_intervals", err);
    if (rc < 0)
        return rc;
    out->size = sizeof(*out);
    intervals->size = sizeof(*intervals);
    *allocator = out->allocator != NULL ? *out->allocator : jfr__malloc;
    default_u32(&out->max_chunks, 1000000);
    default_u32(&out->max_metadata_depth, 32);
    default_u32(&out->max_metadata_elements, 1000000);
    default_u32(&out->max_stack_frames, 4096);
    default_u64(&out->max_pool_entries, UINT64_C(64) << 20);
    default_u64(&out->max_string_bytes, UINT64_C(16) << 20);
    default_u64(&out->max_unpacked_bytes, UINT64_C(4) << 30);
    default_u64(&out->max_decoded_bytes, UINT64_C(1) << 30);
    return check(out, allocator, err);
}
