/* SPDX-License-Identifier: Apache-2.0 */
/* Used with map_none.c and files_none.c: without a mapping there are no pages to release. */
#include "read/reader_impl.h"

void jfr__drop_pages(const jfr_file *file, uint64_t from, uint64_t to)
{
    (void)file;
    (void)from;
    (void)to;
}
