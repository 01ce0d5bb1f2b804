/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { DAY_MS = 86400000 };

uint64_t making_roll(making *m)
{
    /* splitmix64 */
    uint64_t z = (m->dice += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

int making_text(making *m, const char *text, uint32_t *index)
{
    return string_table_add(&m->to->strings, text, strlen(text), index);
}

int making_stack(making *m, uint32_t recorded, uint32_t *index)
{
    const profile *read = &m->f->from->read;
    const frame_source frames = {&read->strings, read->frames, read->stack_frames};

    if (m->stacks[recorded] == 0) {
        if (batch_add_stack(m->to, &frames, &read->stacks[recorded], index) != 0)
            return -1;
        m->stacks[recorded] = *index + 1;
    }
    *index = m->stacks[recorded] - 1;
    return 0;
}

uint32_t fleet_parts(const fleet *f)
{
    return f->apart && f->threads > 0 ? 2 : 1;
}

void fleet_service(const fleet *f, uint32_t jvm, char out[NAME_SIZE])
{
    (void)snprintf(out, NAME_SIZE, "service-%u", jvm % f->services);
}

void fleet_node(const fleet *f, uint32_t node, char out[NAME_SIZE])
{
    (void)snprintf(out, NAME_SIZE, "node-%llu-%u", (unsigned long long)f->seed, node);
}

void fleet_batch_id(const fleet *f, batch_name name, uint8_t id[BATCH_ID_SIZE])
{
    const uint64_t key[] = {f->seed, name.node, name.window, name.part};
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(key, sizeof(key)));
    memcpy(id, hash.digest, BATCH_ID_SIZE);
}

static int add_target(making *m, uint32_t jvm)
{
    const fleet *f = m->f;
    char service[NAME_SIZE], pod[2 * NAME_SIZE], boot_id[NAME_SIZE];
    batch_target *to = BATCH_NEXT(m->to->targets, m->to->target_room, m->to->target_count);

    if (to == NULL)
        return -1;
    *to = (batch_target){.host_pid = 1000 + jvm, .ns_pid = 1, .start_ticks = 100 + jvm};
    to->start_ms = f->start_ms - DAY_MS;
    m->to->target_count++;
    fleet_service(f, jvm, service);
    (void)snprintf(pod, sizeof(pod), "%s-%u-%u", service, m->name.node, jvm);
    (void)snprintf(boot_id, sizeof(boot_id), "%08x-0000-4000-8000-%012x", (uint32_t)f->seed,
                   m->name.node);
    const struct {
        const char *text;
        uint32_t *index;
    } texts[] = {{"load", &to->namespace_str},
                 {"Deployment", &to->workload_kind_str},
                 {service, &to->workload_str},
                 {service, &to->service_str},
                 {pod, &to->pod_str},
                 {"app", &to->container_str},
                 {boot_id, &to->boot_id_str},
                 {"21.0.8+9-LTS", &to->jvm_version_str},
                 {"1.4.2", &to->app_version_str}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (making_text(m, texts[i].text, texts[i].index) != 0)
            return -1;
    }
    return 0;
}

static int add_jvm(making *m, uint32_t jvm)
{
    const fleet *f = m->f;

    if (add_target(m, jvm) != 0 || (m->name.part == 0 && making_windows(m, jvm) != 0))
        return -1;
    bool has_snapshot = f->threads > 0 && m->name.part == fleet_parts(f) - 1;
    return has_snapshot ? making_snapshot(m, jvm) : 0;
}

int fleet_targets(const fleet *f, uint32_t node, batch *out)
{
    making m = {.f = f, .name = {.node = node}, .to = out};
    static const uint8_t no_id[BATCH_ID_SIZE];
    uint32_t empty = 0;

    batch_begin(out, no_id, 0);
    int rc = string_table_add(&out->strings, "", 0, &empty);
    for (uint32_t jvm = 0; jvm < f->jvms && rc == 0; jvm++)
        rc = add_target(&m, jvm);
    return rc;
}

int fleet_batch(const fleet *f, batch_name name, batch *out)
{
    uint64_t start_ms = f->start_ms + (uint64_t)name.window * WINDOW_MS;
    making m = {.f = f, .name = name, .to = out};
    uint8_t id[BATCH_ID_SIZE];
    uint32_t empty = 0;

    fleet_batch_id(f, name, id);
    memcpy(&m.dice, id, sizeof(m.dice));
    batch_begin(out, id, (uint32_t)(start_ms / DAY_MS));
    out->created_ms = start_ms + WINDOW_MS;
    m.stacks = calloc(f->from->read.stack_count + 1, sizeof(*m.stacks));
    int rc = m.stacks != NULL && string_table_add(&out->strings, "", 0, &empty) == 0 &&
                     string_table_add(&out->dictionary, "", 0, &empty) == 0
                 ? 0
                 : -1;
    for (uint32_t jvm = 0; jvm < f->jvms && rc == 0; jvm++)
        rc = add_jvm(&m, jvm);
    free(m.stacks);
    return rc == 0 ? batch_order(out) : -1;
}

uint64_t fleet_target_id(const batch *one, uint32_t target)
{
    enum { BOOT_ID = 36, KEY = BOOT_ID + 4 + 8 };
    const batch_target *from = &one->targets[target];
    uint8_t key[KEY];
    size_t length = 0;

    memcpy(key, string_table_at(&one->strings, from->boot_id_str, &length), BOOT_ID);
    for (size_t i = 0; i < 4; i++)
        key[BOOT_ID + i] = (uint8_t)(from->host_pid >> 8 * i);
    for (size_t i = 0; i < 8; i++)
        key[BOOT_ID + 4 + i] = (uint8_t)(from->start_ticks >> 8 * i);
    return XXH3_64bits(key, sizeof(key));
}
