/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.concurrent.locks.ReentrantLock;

/** The contended java.util.concurrent lock, held for two milliseconds of waiting. */
final class OrderQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private long submitted;

    void submit() {
        lock.lock();
        try {
            submitted++;
            Pause.milliseconds(2);
        } finally {
            lock.unlock();
        }
    }
}
