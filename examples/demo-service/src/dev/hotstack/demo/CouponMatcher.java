/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A regular expression over a text: a quarter of the CPU, most of it in frames of java.util.regex. */
final class CouponMatcher implements Work {
    private static final Pattern COUPON = Pattern.compile("([A-Z]{2,4}-)?(\\d+[a-f]*)+-(SUMMER|WINTER)x?\\b");
    private static final String MAIL = mail();

    private volatile int found;

    @Override
    public String method() {
        return "CouponMatcher.matchCoupons";
    }

    @Override
    public int percent() {
        return 25;
    }

    @Override
    public void unit() {
        found = matchCoupons(MAIL);
    }

    private static int matchCoupons(String text) {
        Matcher matcher = COUPON.matcher(text);
        int count = 0;
        while (matcher.find()) {
            count++;
        }
        return count;
    }

    private static String mail() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            text.append("your code AB-").append(i * 7919).append("-SUMMER and not CD-").append(i).append("-AUTUMN, ");
        }
        return text.toString();
    }
}
