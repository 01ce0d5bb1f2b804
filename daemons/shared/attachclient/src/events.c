/* SPDX-License-Identifier: Apache-2.0 */
#include <attachclient/attachclient.h>

void attachclient_set_events(attach_request *request, const event_intervals *events)
{
    uint64_t live = events->of[EVENT_LIVE];
    request->engine = events->of[EVENT_CPU] != 0 ? ATTACH_AP_ENGINE_AUTO : ATTACH_AP_ENGINE_OFF;
    request->cpu_interval_ns = events->of[EVENT_CPU];
    request->alloc_bytes = events->of[EVENT_ALLOC] != 0 ? events->of[EVENT_ALLOC] : live;
    request->lock_ns = events->of[EVENT_LOCK];
    request->wall_ns = events->of[EVENT_WALL];
    request->live = live != 0;
    request->nativemem_bytes = events->of[EVENT_NATIVEMEM];
}
