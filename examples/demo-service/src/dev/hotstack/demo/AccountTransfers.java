/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.ReentrantLock;

/** The switchable deadlock: two threads take two accounts in opposite order. Interruptible, so it can end. */
final class AccountTransfers {
    private final ReentrantLock east = new ReentrantLock();
    private final ReentrantLock west = new ReentrantLock();
    private Thread[] clerks = new Thread[0];

    synchronized void deadlock() {
        if (clerks.length > 0) {
            return;
        }
        CyclicBarrier bothHoldOne = new CyclicBarrier(2);
        clerks = new Thread[] {
            clerk("transfer-east-west", east, west, bothHoldOne),
            clerk("transfer-west-east", west, east, bothHoldOne)
        };
        for (Thread clerk : clerks) {
            clerk.start();
        }
    }

    synchronized void release() {
        for (Thread clerk : clerks) {
            clerk.interrupt();
        }
        clerks = new Thread[0];
    }

    private static Thread clerk(String name, ReentrantLock from, ReentrantLock to, CyclicBarrier bothHoldOne) {
        Thread thread = new Thread(() -> transfer(from, to, bothHoldOne), name);
        thread.setDaemon(true);
        return thread;
    }

    private static void transfer(ReentrantLock from, ReentrantLock to, CyclicBarrier bothHoldOne) {
        from.lock();
        try {
            bothHoldOne.await();
            to.lockInterruptibly();
            to.unlock();
        } catch (Exception e) {
            // Released from the deadlock: nothing was transferred.
            Thread.currentThread().interrupt();
        } finally {
            from.unlock();
        }
    }
}
