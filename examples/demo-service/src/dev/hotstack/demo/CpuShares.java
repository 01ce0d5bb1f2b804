/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Keeps each kind of work at its designed part of the CPU time, whatever the machine and the JDK: an
 * order does the kind that is furthest behind, and the thread's CPU clock says what it cost.
 */
final class CpuShares {
    private static final long ORDER_NANOS = 2_000_000;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Work[] kinds;
    private final AtomicLongArray spent;
    private final AtomicLongArray assigned;

    CpuShares(Work... kinds) {
        this.kinds = kinds;
        this.spent = new AtomicLongArray(kinds.length);
        this.assigned = new AtomicLongArray(kinds.length);
    }

    void spend() {
        int kind = furthestBehind();
        assigned.addAndGet(kind, ORDER_NANOS); // before it is done: workers who choose at one time would choose alike
        long start = threads.getCurrentThreadCpuTime();
        long used;
        do {
            kinds[kind].unit();
            used = threads.getCurrentThreadCpuTime() - start;
        } while (used < ORDER_NANOS);
        spent.addAndGet(kind, used);
        assigned.addAndGet(kind, used - ORDER_NANOS);
    }

    /** Compares assigned / percent without dividing. */
    private int furthestBehind() {
        int chosen = 0;
        for (int i = 1; i < kinds.length; i++) {
            if (assigned.get(i) * kinds[chosen].percent() < assigned.get(chosen) * kinds[i].percent()) {
                chosen = i;
            }
        }
        return chosen;
    }

    String toJson() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < kinds.length; i++) {
            out.append(i == 0 ? "" : ",");
            out.append('"').append(kinds[i].method()).append("\":").append(spent.get(i));
        }
        return out.toString();
    }
}
