/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/formats/sample_types.h"

#include <stdio.h>

#include "cli/command.h"

uint32_t sample_types(const sagg *agg, uint32_t asked)
{
    uint32_t types = 0;
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        bool wanted = asked == 0 || (asked >> type & 1) != 0;
        if (wanted && sagg_type_totals(agg, type).samples > 0)
            types |= UINT32_C(1) << type;
    }
    return types;
}

void sample_types_list(char *list, size_t room, const sagg *agg, uint32_t types)
{
    size_t used = 0;
    list[0] = '\0';
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        if ((types >> type & 1) == 0)
            continue;
        int size = snprintf(list + used, room - used, "%s%s", used > 0 ? ", " : "",
                            recording_type_name(agg, type));
        if (size < 0 || (size_t)size >= room - used)
            return;
        used += (size_t)size;
    }
}

void sample_types_missing(const recording *rec, const sagg *agg, bool filtered)
{
    char list[SAMPLE_TYPES_ROOM];
    uint32_t types = sample_types(agg, 0);
    sample_types_list(list, sizeof(list), agg, types);
    if (types == 0 && filtered)
        complain("no profile sample of the input passes the filters");
    else if (types == 0)
        complain("there are no profile samples in %s",
                 recording_is_whole(rec) ? "the input"
                                         : "the part of the input that could be read");
    else
        complain("there are no samples of that type; there are samples of: %s", list);
}
