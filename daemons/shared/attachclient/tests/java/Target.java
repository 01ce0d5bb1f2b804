/* SPDX-License-Identifier: Apache-2.0 */
/** A small JVM to attach to: burns some CPU, allocates, contends for a monitor; ends by itself,
 * after 300 seconds or as many as it is told. */
public class Target {
    static final Object LOCK = new Object();
    static volatile long sink;
    static byte[] garbage;

    static void burn() {
        long end = System.nanoTime() + 2_000_000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    /** The pause lets the other thread in: without it that one starves for seconds on a busy machine. */
    static void holdLock() {
        try {
            while (true) {
                synchronized (LOCK) {
                    burn();
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread holder = new Thread(Target::holdLock, "holder");
        holder.setDaemon(true);
        holder.start();
        System.out.println("ready");
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 300;
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            synchronized (LOCK) {
                burn();
            }
            garbage = new byte[64 * 1024];
            Thread.sleep(2);
        }
    }
}
