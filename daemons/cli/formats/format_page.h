/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that are made from flame trees or from sorted stacks. The functions are
 * output_format.write. */
#ifndef HOTSTACK_CLI_FORMAT_PAGE_H
#define HOTSTACK_CLI_FORMAT_PAGE_H

#include "cli/formats/format_table.h"

bool format_html(output *out, format_material *m, uint32_t types);
bool format_json(output *out, format_material *m, uint32_t types);
bool format_heatmap(output *out, format_material *m, uint32_t types);
bool format_speedscope(output *out, format_material *m, uint32_t types);
bool format_collapsed(output *out, format_material *m, uint32_t types);

#endif
