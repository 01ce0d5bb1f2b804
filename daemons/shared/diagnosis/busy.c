/* SPDX-License-Identifier: Apache-2.0 */
#include <diagnosis/busy.h>

bool diagnose_busy(const diagnosed_use *use, double percent)
{
    if (use->window_ns > 0)
        return (double)use->cpu_ns * 100 >= (double)use->window_ns * percent;
    return use->runnable > 0 && use->runnable * 4 >= use->snapshots;
}
