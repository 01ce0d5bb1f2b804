/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/quantity.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

quantity_scale quantity_scale_of(const char *unit, uint64_t greatest)
{
    static const quantity_scale times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    static const quantity_scale sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
    const quantity_scale *scales = strcmp(unit, "ns") == 0 ? times : sizes;
    if (strcmp(unit, "count") == 0)
        return (quantity_scale){0, ""};
    for (size_t i = 0; i < 3; i++)
        if ((double)greatest >= scales[i].divisor)
            return scales[i];
    return (quantity_scale){0, unit};
}

void quantity_text(char *out, size_t room, const quantity_scale *by, double value)
{
    int decimals = by->divisor > 0 ? 2 : 0;
    const char *gap = by->unit[0] != '\0' ? " " : "";
    (void)snprintf(out, room, "%.*f%s%s", decimals, by->divisor > 0 ? value / by->divisor : value,
                   gap, by->unit);
}

double quantity_percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}
