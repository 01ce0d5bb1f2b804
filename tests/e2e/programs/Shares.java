// SPDX-License-Identifier: Apache-2.0
// A JVM with threads that use known shares of a core, and two pools whose threads wait for one another at a monitor and at
// a ReentrantLock. Needs JDK 11.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.ReentrantLock;

public final class Shares {
    static final class Till {}

    static final Till till = new Till();
    static final ReentrantLock gate = new ReentrantLock();
    static volatile long sink;

    public static void main(String[] args) {
        for (int percent : new int[] {4, 8, 16}) start("share-of-" + percent, () -> burn(percent));
        for (int i = 0; i < 3; i++) {
            start("till-" + i, Shares::queue);
            start("gate-" + i, Shares::pass);
        }
        System.out.println("ready");
        pause(1_000_000);
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    // As much CPU time as its share of the time that has passed.
    static void burn(int percent) {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        long begin = System.nanoTime();
        while (true) {
            long due = (System.nanoTime() - begin) / 100 * percent;
            while (bean.getCurrentThreadCpuTime() < due) for (int i = 0; i < 10_000; i++) sink += i;
            pause(20);
        }
    }

    static void queue() {
        while (true) {
            synchronized (till) {
                pause(20);
            }
        }
    }

    static void pass() {
        while (true) {
            gate.lock();
            try {
                pause(20);
            } finally {
                gate.unlock();
            }
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
