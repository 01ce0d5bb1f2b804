/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Serves orders on the pool http-worker-N. */
final class OrderDesk {
    static final int WORKERS = 8;

    private final AtomicInteger threadNumber = new AtomicInteger();
    private final ExecutorService workers = Executors.newFixedThreadPool(WORKERS, this::newWorker);
    private final CpuShares shares =
            new CpuShares(new PriceEngine(), new CouponMatcher(), new ReportBuilder(), new Recommender());
    private final InventoryLedger ledger = new InventoryLedger();
    private final OrderQueue queue = new OrderQueue();
    private final AtomicLong served = new AtomicLong();

    Future<?> accept() {
        return workers.submit(this::serve);
    }

    private Thread newWorker(Runnable body) {
        Thread thread = new Thread(body, "http-worker-" + threadNumber.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    private void serve() {
        ledger.reserve();
        shares.spend();
        queue.submit();
        served.incrementAndGet();
    }

    /** Returns the work done so far as JSON: the truth with which a profile is compared. */
    String stats() {
        return "{\"orders\":" + served.get() + ",\"cpu_ns\":{" + shares.toJson() + "}}\n";
    }
}
