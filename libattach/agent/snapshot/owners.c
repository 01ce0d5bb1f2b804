/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/owners.h"

#include "snapshot/convert.h"

#define OWNERS_MAX 256 /* per snapshot; further owners are not examined */
#define CHUNK      512
#define LOCALS     16

/* Owners that are missing from the list of threads: threads that have ended, virtual threads, and
 * threads that are younger than the list or were cut from it. */
typedef struct missing {
    int64_t tids[OWNERS_MAX];
    size_t n;
} missing;

static bool is_among(const missing *m, int64_t tid)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->tids[i] == tid)
            return true;
    return false;
}

static void find_missing(missing *m, const reading *r)
{
    m->n = 0;
    for (size_t i = 0; i < r->n && m->n < OWNERS_MAX; i++) {
        int64_t owner = r->rows[i].owner;
        if (owner != 0 && reading_find(r, owner) == NULL && !is_among(m, owner))
            m->tids[m->n++] = owner;
    }
}

static jobject infos_of(jvm *j, const int64_t *tids, size_t n)
{
    jlongArray ids = jvm_longs(j, tids, n);
    jobject infos = ids == NULL ? NULL : jvm_object(j, j->bean, GET_INFOS, ids, (jint)0);
    jvm_drop(j, ids);
    return infos;
}

/* Keeps only the ids for which the JVM has no platform thread. */
static void drop_alive(missing *m, jvm *j)
{
    size_t kept = 0;
    jobject infos = infos_of(j, m->tids, m->n);
    size_t n = jvm_length(j, infos) < m->n ? 0 : m->n;
    for (size_t i = 0; i < n; i++) {
        jobject info = jvm_element(j, infos, i);
        if (info == NULL && !jvm_failed(j))
            m->tids[kept++] = m->tids[i];
        jvm_drop(j, info);
    }
    jvm_drop(j, infos);
    m->n = kept;
}

/* Reads the rows of these threads again. A row whose owner has changed loses its mark. */
static void read_again(const int64_t *tids, size_t n, jvm *j, reading *r, wire_out *o)
{
    jobject infos = infos_of(j, tids, n);
    if (jvm_length(j, infos) < n)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        jobject info = jvm_element(j, infos, i);
        if (info != NULL)
            convert_info(reading_find(r, tids[i]), o, j, info);
        jvm_drop(j, info);
    }
    jvm_drop(j, infos);
}

static void mark(const missing *gone, jvm *j, reading *r, wire_out *o, uint8_t flag)
{
    int64_t tids[CHUNK];
    size_t n = 0;
    for (size_t i = 0; i < r->n && !jvm_failed(j); i++) {
        thread_row *row = &r->rows[i];
        if (row->owner == 0 || !is_among(gone, row->owner))
            continue;
        row->flags |= flag;
        tids[n++] = row->tid;
        if (n < CHUNK)
            continue;
        read_again(tids, n, j, r, o);
        n = 0;
    }
    if (n > 0 && !jvm_failed(j))
        read_again(tids, n, j, r, o);
}

bool owners_mark(jvm *j, reading *r, wire_out *o, bool has_virtual)
{
    missing gone;
    find_missing(&gone, r);
    if (gone.n == 0)
        return true;
    if (!jvm_push(j, LOCALS))
        return false;
    drop_alive(&gone, j);
    if (gone.n > 0)
        mark(&gone, j, r, o, has_virtual ? THREADS_OWNER_GONE : THREADS_OWNER_ENDED);
    jvm_pop(j);
    return !jvm_failed(j);
}
