/** A small JVM to attach to: burns some CPU, allocates, contends for a monitor; ends by itself. */
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

    static void holdLock() {
        while (true) {
            synchronized (LOCK) {
                burn();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread holder = new Thread(Target::holdLock, "holder");
        holder.setDaemon(true);
        holder.start();
        System.out.println("ready");
        long end = System.nanoTime() + 300_000_000_000L;
        while (System.nanoTime() < end) {
            synchronized (LOCK) {
                burn();
            }
            garbage = new byte[64 * 1024];
            Thread.sleep(2);
        }
    }
}
