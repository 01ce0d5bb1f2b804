/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.util.ArrayList;
import java.util.List;

/** Builds text that is thrown away: nearly all of the allocation, 15 % of the CPU. */
final class ReportBuilder implements Work {
    private static final int ROWS = 200;

    private volatile int characters;

    @Override
    public String method() {
        return "ReportBuilder.renderRows";
    }

    @Override
    public int percent() {
        return 15;
    }

    @Override
    public void unit() {
        int sum = 0;
        for (String row : renderRows(ROWS)) {
            sum += row.length();
        }
        characters = sum;
    }

    private static List<String> renderRows(int count) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            char[] cells = new char[256];
            for (int c = 0; c < cells.length; c++) {
                cells[c] = (char) ('a' + (i + c) % 26);
            }
            rows.add(new String(cells));
        }
        return rows;
    }
}
