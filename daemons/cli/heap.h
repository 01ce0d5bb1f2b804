/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

/* Lets the heap of this process grow by a large step, in huge pages where the kernel has some, for
 * the tables of a large input: thousands of page faults fewer. Once in a process; where the C
 * library cannot, nothing happens. */
void heap_in_huge_pages(void);

#endif
