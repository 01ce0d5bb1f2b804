// SPDX-License-Identifier: Apache-2.0
public class Calls {
    static volatile long x;
    static void target(int i) { x += i; }
    static void often() { for (int i = 0; i < 30; i++) target(i); }
    static void seldom() { for (int i = 0; i < 10; i++) target(i); }
    public static void main(String[] a) throws Exception {
        Thread.sleep(500);
        for (int k = 0; k < 100; k++) { often(); seldom(); Thread.sleep(5); }
    }
}
