/* SPDX-License-Identifier: Apache-2.0 */
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Timespan;
import jdk.jfr.Unsigned;

/**
 * What the test recordings show: CPU, allocation, contended monitors and java.util.concurrent locks,
 * idle waiting, and virtual threads where the JDK has them.
 *
 * <p>usage: java Workload SECONDS. Prints "ready" once all threads run.
 */
public final class Workload {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static volatile boolean running = true;
    private static volatile long sink;
    private static volatile Object garbage;

    private Workload() {}

    /** Values at the ends of their kinds, which tools write as words. */
    static final class Extremes extends Event {
        byte leastByte = Byte.MIN_VALUE;
        short leastShort = Short.MIN_VALUE;
        int leastInt = Integer.MIN_VALUE;
        long leastLong = Long.MIN_VALUE;
        float leastFloat = Float.NEGATIVE_INFINITY;
        double noDouble = Double.NaN;
        char letter = 'a';
        char umlaut = '\u00e4';
        char euro = '\u20ac';
        @DataAmount int leastAmount = Integer.MIN_VALUE;
        @Timespan(Timespan.MILLISECONDS) int leastSpan = Integer.MIN_VALUE;
        @Unsigned int halfUnsigned = Integer.MIN_VALUE;
    }

    static void burnCpu() {
        long x = 1;
        for (int i = 0; i < 2_000_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sink = x;
    }

    static void allocate() {
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            kept.add(new byte[4096]);
            kept.add("value " + i);
        }
        kept.add(new byte[4 << 20]);
        garbage = kept;
    }

    static void enterMonitor() throws InterruptedException {
        synchronized (MONITOR) {
            Thread.sleep(2);
        }
    }

    static void takeLock() throws InterruptedException {
        LOCK.lock();
        try {
            Thread.sleep(2);
        } finally {
            LOCK.unlock();
        }
    }

    interface Step {
        void run() throws InterruptedException;
    }

    static Thread start(String name, Step step) {
        Thread thread = new Thread(() -> loop(step), name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void loop(Step step) {
        try {
            while (running) {
                step.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void startVirtual(Step step) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            start.invoke(null, (Runnable) () -> loop(step));
        } catch (ReflectiveOperationException e) {
            return; // JDK before 21
        }
    }

    public static void main(String[] args) throws Exception {
        BlockingQueue<Object> empty = new LinkedBlockingQueue<>();
        start("burner-1", Workload::burnCpu);
        start("allocator-1", () -> {
            allocate();
            Thread.sleep(1);
        });
        for (int i = 1; i <= 2; i++) {
            start("monitor-" + i, Workload::enterMonitor);
            start("locker-" + i, Workload::takeLock);
        }
        start("idle-\u00e4\ud83d\ude00", empty::take);
        startVirtual(() -> {
            burnCpu();
            Thread.sleep(1);
        });
        new Extremes().commit();
        System.out.println("ready");
        System.out.flush();
        Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
        running = false;
    }
}
