// SPDX-License-Identifier: Apache-2.0
// A small service: each of its threads works for 2 ms, waits for a lock that it shares with the others, and pauses for as many
// milliseconds as the first argument says. The second is the number of threads, the third how many KiB each request allocates.
public final class Service {
    static final Object lock = new Object();
    static volatile long sink;
    static volatile byte[] garbage;
    static int kilobytes;

    public static void main(String[] args) throws InterruptedException {
        int pause = Integer.parseInt(args[0]);
        kilobytes = Integer.parseInt(args[2]);
        System.out.println("ready");
        for (int i = 1; i < Integer.parseInt(args[1]); i++) new Thread(() -> serve(pause), "service-" + i).start();
        serve(pause);
    }

    static void serve(int pause) {
        try {
            for (long request = 0; ; request++) {
                work(request % 8);
                if (pause > 0) Thread.sleep(pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Different depths make different stacks.
    static void work(long depth) {
        if (depth > 0) {
            work(depth - 1);
            return;
        }
        long end = System.nanoTime() + 2_000_000;
        while (System.nanoTime() < end) sink++;
        for (int i = 0; i < kilobytes; i++) garbage = new byte[1024];
        synchronized (lock) {
            end = System.nanoTime() + 200_000;
            while (System.nanoTime() < end) sink++;
        }
    }
}
