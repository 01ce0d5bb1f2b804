/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Sends orders in bursts of one per worker, so that workers meet at the locks on any machine. */
final class LoadGenerator implements Runnable {
    private final OrderDesk desk;
    private final long burstNanos;

    LoadGenerator(OrderDesk desk, int ordersPerSecond) {
        this.desk = desk;
        this.burstNanos = 1_000_000_000L * OrderDesk.WORKERS / ordersPerSecond;
    }

    void start() {
        Thread thread = new Thread(this, "load-generator");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        long next = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            sendBurst();
            next = Math.max(next + burstNanos, System.nanoTime() - burstNanos);
            long wait = next - System.nanoTime();
            if (wait > 0) {
                Pause.milliseconds(wait / 1_000_000);
            }
        }
    }

    /** Waits for the burst: a machine that is too slow gets fewer orders, not a longer queue. */
    private void sendBurst() {
        List<Future<?>> burst = new ArrayList<>();
        for (int i = 0; i < OrderDesk.WORKERS; i++) {
            burst.add(desk.accept());
        }
        for (Future<?> order : burst) {
            try {
                order.get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException e) {
                throw new IllegalStateException("an order failed", e.getCause());
            }
        }
    }
}
