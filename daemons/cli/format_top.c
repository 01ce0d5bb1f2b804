/* SPDX-License-Identifier: Apache-2.0 */
/* Top tables as CSV and JSON, from all entries. */
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "formats.h"
#include "json_text.h"

static const char *const kinds[] = {"java", "native", "jvm", "kernel", "unknown"};

static sagg_top *top_of(const sagg *agg, unsigned type)
{
    sagg_top *top = NULL;
    sagg_error err;
    if (sagg_top_new(&top, agg, type, 0, &err) != 0)
        complain("%s", err.message);
    return top;
}

/* Quoted whatever it holds, quotes doubled (RFC 4180). */
static void write_cell(FILE *to, sagg_str text)
{
    (void)fputc('"', to);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            (void)fputc('"', to);
        (void)fputc(text.data[i], to);
    }
    (void)fputc('"', to);
}

bool format_csv(output *out, const sagg *agg, unsigned type)
{
    size_t count;
    sagg_top *top = top_of(agg, type);
    if (top == NULL)
        return false;
    const sagg_top_row *rows = sagg_top_rows(top, &count, NULL);
    (void)fprintf(out->file, "class,method,kind,self_%s,total_%s\r\n", profile_type_get(type)->unit,
                  profile_type_get(type)->unit);
    for (size_t i = 0; i < count; i++) {
        write_cell(out->file, rows[i].frame.class_name);
        (void)fputc(',', out->file);
        write_cell(out->file, rows[i].frame.method);
        (void)fprintf(out->file, ",%s,%" PRIu64 ",%" PRIu64 "\r\n", kinds[rows[i].frame.kind],
                      rows[i].self, rows[i].total);
    }
    sagg_top_free(top);
    return true;
}

static bool write_rows(FILE *to, const sagg *agg, unsigned type)
{
    size_t count;
    sagg_top *top = top_of(agg, type);
    if (top == NULL)
        return false;
    const sagg_top_row *rows = sagg_top_rows(top, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ",\n {\"class\":" : "\n {\"class\":", to);
        json_text(to, rows[i].frame.class_name);
        (void)fputs(",\"method\":", to);
        json_text(to, rows[i].frame.method);
        (void)fprintf(to, ",\"kind\":\"%s\",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}",
                      kinds[rows[i].frame.kind], rows[i].self, rows[i].total);
    }
    sagg_top_free(top);
    return true;
}

bool format_top(output *out, const sagg *agg, uint32_t types)
{
    bool first = true;
    (void)fputs("{\"version\":1,\"types\":[", out->file);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        const profile_type_info *info = profile_type_get(type);
        if ((types >> type & 1) == 0)
            continue;
        sagg_totals totals = sagg_type_totals(agg, type);
        (void)fprintf(out->file,
                      "%s\n{\"type\":\"%s\",\"unit\":\"%s\",\"value\":%" PRIu64
                      ",\"raw_value\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"rows\":[",
                      first ? "" : ",", info->name, info->unit, totals.value, totals.raw_value,
                      totals.samples);
        if (!write_rows(out->file, agg, type))
            return false;
        (void)fputs("]}", out->file);
        first = false;
    }
    (void)fputs("]}\n", out->file);
    return true;
}
