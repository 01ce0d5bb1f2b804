// SPDX-License-Identifier: Apache-2.0
// Compares a page's picture with the one that is kept in the tree.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';

/** Of a channel, from 0 to 255: what antialiasing may do. */
const NOISE = 48;
/** Of all pixels: less than a word of a menu. */
const TOLERANCE = 0.0002;

function directory(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run this by \`meson test ui-golden\``);
  return value;
}

/** Returns the share of pixels that differ, in [0, 1]; 1 where the sizes do. */
async function difference(blank: Page, kept: Buffer, taken: Buffer): Promise<number> {
  return blank.evaluate(
    async ([one, other, noise]) => {
      const pixels = async (base64: string) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [a, b] = [await pixels(one), await pixels(other)];
      if (a.width !== b.width || a.height !== b.height) return 1;
      let differing = 0;
      for (let at = 0; at < a.data.length; at += 4)
        if ([0, 1, 2].some((channel) => Math.abs(a.data[at + channel]! - b.data[at + channel]!) > noise)) differing++;
      return differing / (a.width * a.height);
    },
    [kept.toString('base64'), taken.toString('base64'), NOISE] as const,
  );
}

/**
 * Takes a picture of the page and compares it with golden/NAME.png; `blank` is a page that is not under test. Where they
 * differ, both are kept side by side in HOTSTACK_GOLDEN_FAILED. HOTSTACK_GOLDEN=update makes this picture the one to keep.
 */
export async function matchesGolden(page: Page, blank: Page, name: string): Promise<void> {
  const file = path.join(directory('HOTSTACK_GOLDEN_KEPT'), `${name}.png`);
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (process.env['HOTSTACK_GOLDEN'] === 'update') return writeFileSync(file, taken);
  const kept = existsSync(file) ? readFileSync(file) : null;
  const share = kept === null ? 1 : await difference(blank, kept, taken);
  if (share <= TOLERANCE) return;
  const failed = directory('HOTSTACK_GOLDEN_FAILED');
  mkdirSync(failed, { recursive: true });
  writeFileSync(path.join(failed, `${name}.now.png`), taken);
  if (kept !== null) writeFileSync(path.join(failed, `${name}.kept.png`), kept);
  const what = kept === null ? 'there is no picture to compare it with' : `${(share * 100).toFixed(2)} % of the pixels differ`;
  throw new Error(`${name}: ${what}; see ${failed}. If the page is right, run: HOTSTACK_GOLDEN=update meson test -C build ui-golden`);
}
