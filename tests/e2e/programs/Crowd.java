// SPDX-License-Identifier: Apache-2.0
// A JVM with as many threads as its argument says, which all wait, and a deadlock of the two youngest. "end" on standard
// input exits. Needs JDK 11.
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

public final class Crowd {
    static final int SMALL_STACK = 128 << 10;

    static final class Account {}

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) start("crowd-" + i, () -> await(never));
        tie(new Account(), new Account());
        System.out.println("ready");
        Scanner commands = new Scanner(System.in);
        while (commands.hasNextLine() && !commands.nextLine().equals("end")) {}
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(null, body, name, SMALL_STACK);
        thread.setDaemon(true);
        thread.start();
    }

    static void tie(Account left, Account right) {
        CountDownLatch both = new CountDownLatch(2);
        start("last-left", () -> hold(left, right, both));
        start("last-right", () -> hold(right, left, both));
    }

    static void hold(Account own, Account other, CountDownLatch both) {
        synchronized (own) {
            both.countDown();
            await(both);
            synchronized (other) {
                throw new IllegalStateException("no deadlock");
            }
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
