// SPDX-License-Identifier: Apache-2.0
// A JVM with what the threads, locks and deadlocks pages are to show. Commands on standard input:
// "deadlock" ties two cycles, "deadlocks" four others, "untie" interrupts the threads that wait there for a ReentrantLock,
// "orphan" lets a thread end that holds a lock, "stamp" lets a thread wait for a StampedLock, "initialise" initialises two
// classes crosswise, "carry" starts a virtual thread that computes (JDK 21 and later), "end" exits. Needs JDK 11.
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

public final class Contention {
    static final class Account {}

    static final class Ledger {}

    static final Object monitor = new Ledger();
    static final ReentrantLock lock = new ReentrantLock();
    static volatile long sink;

    public static void main(String[] args) {
        start("burner-1", Contention::burn);
        start("ledger-owner", () -> holdMonitor());
        for (int i = 1; i <= 3; i++) start("ledger-waiter-" + i, () -> enterMonitor());
        start("lock-owner", Contention::holdLock);
        for (int i = 1; i <= 2; i++) start("lock-waiter-" + i, Contention::enterLock);
        System.out.println("ready");
        Scanner commands = new Scanner(System.in);
        while (commands.hasNextLine()) {
            String command = commands.nextLine();
            if (command.equals("deadlock")) {
                tie("monitors", false, false);
                tie("both", true, false, true, false, true);
            }
            if (command.equals("deadlocks")) {
                tie("locks", true, true);
                tie("both", true, false);
                tie("monitors", false, false, false, false, false);
                tie("locks", true, true, true, true, true);
            }
            if (command.equals("untie")) untie();
            if (command.equals("orphan")) orphan();
            if (command.equals("stamp")) stamp();
            if (command.equals("initialise")) initialise();
            if (command.equals("carry")) carry();
            if (command.equals("end")) System.exit(0);
        }
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void burn() {
        for (long i = 0; ; i++) sink += i;
    }

    static void pause() {
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void holdMonitor() {
        synchronized (monitor) {
            pause();
        }
    }

    static void enterMonitor() {
        pauseShortly();
        synchronized (monitor) {
            sink++;
        }
    }

    static void holdLock() {
        lock.lock();
        pause();
    }

    static void enterLock() {
        pauseShortly();
        lock.lock();
        sink++;
    }

    static void pauseShortly() {
        try {
            Thread.sleep(300);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // A cycle of as many threads as booleans; true: that thread's own lock is a ReentrantLock.
    static void tie(String kind, boolean... reentrant) {
        int n = reentrant.length;
        Object[] own = new Object[n];
        for (int i = 0; i < n; i++) own[i] = reentrant[i] ? new ReentrantLock() : new Account();
        CountDownLatch all = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Object mine = own[i];
            Object next = own[(i + 1) % n];
            start("cycle" + n + "-" + kind + "-" + i, () -> hold(mine, () -> {
                all.countDown();
                await(all);
                hold(next, () -> sink++);
            }));
        }
    }

    // Threads that wait for a monitor cannot be interrupted: a cycle of monitors only stays.
    static void untie() {
        for (Thread one : Thread.getAllStackTraces().keySet()) if (one.getName().startsWith("cycle")) one.interrupt();
    }

    static void orphan() {
        ReentrantLock orphaned = new ReentrantLock();
        Thread owner = new Thread(orphaned::lock, "owner-that-ended");
        owner.start();
        join(owner);
        for (int i = 1; i <= 2; i++) start("orphan-waiter-" + i, orphaned::lock);
    }

    static void stamp() {
        StampedLock stamped = new StampedLock();
        stamped.writeLock();
        start("stamped-waiter", stamped::readLock);
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final CountDownLatch crossing = new CountDownLatch(2);

    static final class First {
        static int value;

        static {
            crossing.countDown();
            await(crossing);
            value = Second.value + 1;
        }
    }

    static final class Second {
        static int value;

        static {
            crossing.countDown();
            await(crossing);
            value = First.value + 1;
        }
    }

    static void initialise() {
        start("init-first", () -> sink = First.value);
        start("init-second", () -> sink = Second.value);
    }

    // By reflection: this class is compiled for JDK 11.
    static void carry() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            type.getMethod("name", String.class).invoke(builder, "vt-burner");
            type.getMethod("start", Runnable.class).invoke(builder, (Runnable) Contention::burn);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void hold(Object one, Runnable body) {
        if (one instanceof ReentrantLock) {
            runLocked((ReentrantLock) one, body);
        } else {
            synchronized (one) {
                body.run();
            }
        }
    }

    static void runLocked(ReentrantLock one, Runnable body) {
        try {
            one.lockInterruptibly();
        } catch (InterruptedException e) {
            return;
        }
        try {
            body.run();
        } finally {
            one.unlock();
        }
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
