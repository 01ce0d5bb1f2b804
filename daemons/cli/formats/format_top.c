/* SPDX-License-Identifier: Apache-2.0 */
/* Top tables as CSV and JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/formats/formats.h"
#include "cli/formats/sample_types.h"
#include "cli/output/json_text.h"

static const char *const kinds[] = {"java", "native", "jvm", "kernel", "unknown"};

/* ---- tables ---- */

static int compare_totals(const void *a, const void *b)
{
    const sagg_top_row *const *left = a;
    const sagg_top_row *const *right = b;
    if ((*left)->total != (*right)->total)
        return (*left)->total > (*right)->total ? -1 : 1;
    return *left < *right ? -1 : 1; /* equal: in the table's order, by self, then by name */
}

bool top_table_open(top_table *table, const sagg *agg, unsigned type, const top_wish *wish)
{
    size_t count;
    sagg_error err;
    *table = (top_table){0};
    if (sagg_top_new(&table->top, agg, type, 0, &err) != 0) {
        complain("%s", err.message);
        return false;
    }
    const sagg_top_row *rows = sagg_top_rows(table->top, &count, NULL);
    table->rows = malloc((count + 1) * sizeof(const sagg_top_row *));
    if (table->rows == NULL) {
        complain("not enough memory to sort the methods");
        top_table_close(table);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        table->rows[i] = &rows[i];
    if (wish->by_total)
        qsort((void *)table->rows, count, sizeof(const sagg_top_row *), compare_totals);
    table->count = wish->limit > 0 && wish->limit < count ? wish->limit : count;
    table->omitted = count - table->count;
    return true;
}

void top_table_close(top_table *table)
{
    free((void *)table->rows);
    sagg_top_free(table->top);
    *table = (top_table){0};
}

/* ---- CSV ---- */

/* Writes a cell, always in quotes, with inner quotes doubled (RFC 4180). */
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
    top_table table;
    const char *unit = profile_type_get(type)->unit;
    if (!top_table_open(&table, agg, type, &(top_wish){0}))
        return false;
    (void)fprintf(out->file, "class,method,kind,self_%s,total_%s\r\n", unit, unit);
    for (size_t i = 0; i < table.count; i++) {
        const sagg_top_row *row = table.rows[i];
        write_cell(out->file, row->frame.class_name);
        (void)fputc(',', out->file);
        write_cell(out->file, row->frame.method);
        (void)fprintf(out->file, ",%s,%" PRIu64 ",%" PRIu64 "\r\n", kinds[row->frame.kind],
                      row->self, row->total);
    }
    top_table_close(&table);
    return true;
}

/* ---- JSON ---- */

static void write_row(FILE *to, const sagg_top_row *row)
{
    (void)fputs("\n {\"class\":", to);
    json_text(to, row->frame.class_name);
    (void)fputs(",\"method\":", to);
    json_text(to, row->frame.method);
    (void)fprintf(to, ",\"kind\":\"%s\",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}",
                  kinds[row->frame.kind], row->self, row->total);
}

static bool write_type(FILE *to, const sagg *agg, unsigned type, const top_wish *wish)
{
    top_table table;
    const profile_type_info *info = profile_type_get(type);
    sagg_totals totals = sagg_type_totals(agg, type);
    if (!top_table_open(&table, agg, type, wish))
        return false;
    (void)fprintf(to,
                  "\n{\"type\":\"%s\",\"unit\":\"%s\",\"value\":%" PRIu64 ",\"raw_value\":%" PRIu64
                  ",\"samples\":%" PRIu64 ",\"omitted\":%zu,\"rows\":[",
                  recording_type_name(agg, type), info->unit, totals.value, totals.raw_value,
                  totals.samples, table.omitted);
    for (size_t i = 0; i < table.count; i++) {
        if (i > 0)
            (void)fputc(',', to);
        write_row(to, table.rows[i]);
    }
    (void)fputs("]}", to);
    top_table_close(&table);
    return true;
}

bool format_top(output *out, const sagg *agg, uint32_t types, const top_wish *wish)
{
    bool first = true;
    (void)fputs("{\"version\":1,\"types\":[", out->file);
    for (unsigned type = 1; type < PROFILE_TYPE_END; type++) {
        if ((types >> type & 1) == 0)
            continue;
        if (!first)
            (void)fputc(',', out->file);
        first = false;
        if (!write_type(out->file, agg, type, wish))
            return false;
    }
    (void)fputs("]}\n", out->file);
    return true;
}
