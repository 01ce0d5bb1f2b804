/* SPDX-License-Identifier: Apache-2.0 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads of known kinds, by argument: monitors N, locks N (a deadlock of N threads), many N (parked ones), deep N D MB
 * (N parked below D calls, with that much live data), mixed N D (these without the data, and a deadlock of two), burn P... (a thread each that burns P percent of a core), contend
 * (one owner, three that wait for its monitor), virtual (a virtual thread at work, where there are any), orphans (three
 * that wait for a lock whose owner has ended), parked (a thread that waits for the lock of a virtual thread that is not
 * mounted), ownerless (threads that wait for locks whose holder the JVM does not know), initialise (two that initialise
 * two classes crosswise), pool N (N that wait for one lock in one method, and its holder).
 * Prints "ready" once all are there and ends by itself.
 */
public class Threads {
    static volatile long sink;
    static Object[] live;

    static void daemon(String name, Runnable body) {
        Thread thread = new Thread(null, body, name, 256 * 1024);
        thread.setDaemon(true);
        thread.start();
    }

    static void parkForever() {
        while (true) {
            LockSupport.park();
        }
    }

    // ---- deadlocks ----

    static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void lockMonitors(Object first, Object second, CyclicBarrier barrier) {
        synchronized (first) {
            meet(barrier);
            synchronized (second) {
                sink++;
            }
        }
    }

    static void lockLocks(ReentrantLock first, ReentrantLock second, CyclicBarrier barrier) {
        first.lock();
        meet(barrier);
        second.lock();
    }

    static void awaitStates(String prefix, Thread.State state, int n) throws InterruptedException {
        while (true) {
            int found = 0;
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                found += thread.getName().startsWith(prefix) && thread.getState() == state ? 1 : 0;
            }
            if (found == n) {
                return;
            }
            Thread.sleep(2);
        }
    }

    static void monitors(int n) throws InterruptedException {
        Object[] locks = new Object[n];
        for (int i = 0; i < n; i++) {
            locks[i] = new Object();
        }
        CyclicBarrier barrier = new CyclicBarrier(n);
        for (int i = 0; i < n; i++) {
            Object first = locks[i], second = locks[(i + 1) % n];
            daemon("stuck-" + i, () -> lockMonitors(first, second, barrier));
        }
        awaitStates("stuck-", Thread.State.BLOCKED, n);
    }

    static void locks(int n) throws InterruptedException {
        ReentrantLock[] locks = new ReentrantLock[n];
        for (int i = 0; i < n; i++) {
            locks[i] = new ReentrantLock();
        }
        CyclicBarrier barrier = new CyclicBarrier(n);
        CountDownLatch through = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            ReentrantLock first = locks[i], second = locks[(i + 1) % n];
            daemon("stuck-" + i, () -> {
                lockLocks(first, second, barrier);
                through.countDown();
            });
        }
        for (ReentrantLock lock : locks) {
            while (!lock.hasQueuedThreads()) {
                Thread.sleep(2);
            }
        }
        awaitStates("stuck-", Thread.State.WAITING, n);
    }

    // ---- crowds ----

    static int descend(int depth) {
        if (depth == 0) {
            parkForever();
        }
        return descend(depth - 1) + 1;
    }

    static void many(int n, int depth) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            daemon("idle-" + i, () -> descend(depth));
        }
        awaitStates("idle-", Thread.State.WAITING, n);
    }

    /** That much live data, in objects of 32 bytes. */
    static void fill(int megabytes) {
        live = new Object[megabytes * 16];
        for (int i = 0; i < live.length; i++) {
            Object[] part = new Object[2048];
            for (int j = 0; j < part.length; j++) {
                part[j] = new long[2];
            }
            live[i] = part;
        }
    }

    // ---- work ----

    static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    static void burnShare(int percent) {
        while (true) {
            spin(percent * 200_000L);
            LockSupport.parkNanos((100 - percent) * 200_000L);
        }
    }

    static void hold(Object lock, CountDownLatch held) {
        synchronized (lock) {
            held.countDown();
            parkForever();
        }
    }

    static void want(Object lock) {
        synchronized (lock) {
            sink++;
        }
    }

    static void contend() throws InterruptedException {
        Object lock = new Threads();
        CountDownLatch held = new CountDownLatch(1);
        daemon("holder", () -> hold(lock, held));
        held.await();
        for (int i = 0; i < 3; i++) {
            daemon("wanting-" + i, () -> want(lock));
        }
        awaitStates("wanting-", Thread.State.BLOCKED, 3);
    }

    static void startVirtual(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, name);
        type.getMethod("start", Runnable.class).invoke(builder, body);
    }

    static void virtual() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        startVirtual("vt-computes", () -> {
            running.countDown();
            while (true) {
                spin(1_000_000);
            }
        });
        running.await();
    }

    // ---- locks without a holder, or with one that is no platform thread ----

    static void await(ReentrantLock lock, int n) throws InterruptedException {
        while (lock.getQueueLength() < n) {
            Thread.sleep(2);
        }
    }

    static void orphans() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Thread dies = new Thread(lock::lock, "XNIO-died");
        dies.start();
        dies.join();
        for (int i = 0; i < 3; i++) {
            daemon("orphan-" + i, lock::lock);
        }
        await(lock, 3);
    }

    static void parked() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1);
        startVirtual("vt-holds", () -> {
            lock.lock();
            held.countDown();
            parkForever();
        });
        held.await();
        daemon("wants", lock::lock);
        await(lock, 1);
    }

    static void ownerless() throws InterruptedException {
        StampedLock stamped = new StampedLock();
        stamped.writeLock();
        daemon("stamped", stamped::readLock);
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        lock.readLock().lock();
        daemon("writer", lock.writeLock()::lock);
        Semaphore none = new Semaphore(0);
        daemon("permitted", none::acquireUninterruptibly);
        for (String name : new String[] {"stamped", "writer", "permitted"}) {
            awaitStates(name, Thread.State.WAITING, 1);
        }
    }

    static void take(ReentrantLock lock) {
        lock.lock();
    }

    static void pool(int n) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1);
        daemon("pool-holder", () -> {
            take(lock);
            held.countDown();
            parkForever();
        });
        held.await();
        for (int i = 0; i < n; i++) {
            daemon("pool-" + i, () -> take(lock));
        }
        await(lock, n);
    }

    // ---- classes that are initialised crosswise ----

    static final CyclicBarrier CROSSING = new CyclicBarrier(2);

    static class First {
        static int value;

        static {
            meet(CROSSING);
            value = Second.value + 1;
        }
    }

    static class Second {
        static int value;

        static {
            meet(CROSSING);
            value = First.value + 1;
        }
    }

    static boolean initialises(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].getMethodName().equals("<clinit>");
    }

    static void initialise() throws InterruptedException {
        Thread first = new Thread(() -> sink = First.value, "init-First");
        Thread second = new Thread(() -> sink = Second.value, "init-Second");
        first.setDaemon(true);
        second.setDaemon(true);
        first.start();
        second.start();
        while (!initialises(first) || !initialises(second)) {
            Thread.sleep(2);
        }
    }

    static int number(String[] args, int i) {
        return Integer.parseInt(args[i]);
    }

    static void begin(String[] args) throws Exception {
        switch (args[0]) {
            case "monitors": monitors(number(args, 1)); break;
            case "locks": locks(number(args, 1)); break;
            case "many": many(number(args, 1), 1); break;
            case "deep":
                fill(number(args, 3));
                many(number(args, 1), number(args, 2));
                break;
            case "mixed":
                monitors(2);
                many(number(args, 1), number(args, 2));
                break;
            case "burn":
                for (int i = 1; i < args.length; i++) {
                    int percent = number(args, i);
                    daemon("burn-" + percent, () -> burnShare(percent));
                }
                break;
            case "contend": contend(); break;
            case "virtual": virtual(); break;
            case "orphans": orphans(); break;
            case "parked": parked(); break;
            case "ownerless": ownerless(); break;
            case "initialise": initialise(); break;
            case "pool": pool(number(args, 1)); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        begin(args);
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
