// SPDX-License-Identifier: Apache-2.0
// Builds the self-contained pages (dist/flamegraph.html ...): the renderer and its controls in one file. Fails when one outgrows its budget or when a page breaks its promises.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const BUDGET = 100 * 1024;
const MARKER = '/*HOTSTACK_DATA*/';
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(process.env.HOTSTACK_UI_OUT ?? path.join(here, '..', 'dist'), 'flamegraph');

/** Builds one script and one style from an entry and all its imports. */
async function bundle(entry) {
  const result = await build({
    configFile: false,
    root: here,
    logLevel: 'warn',
    cacheDir: path.join(out, '.vite'),
    build: {
      write: false,
      target: 'es2022',
      cssTarget: 'chrome123',
      minify: 'oxc',
      cssMinify: true,
      lib: { entry: path.join(here, entry), formats: ['iife'], name: 'hotstack', fileName: 'page', cssFileName: 'page' },
    },
  });
  const { output } = Array.isArray(result) ? result[0] : result;
  const script = output.find((file) => file.type === 'chunk').code;
  const style = output.find((file) => file.fileName.endsWith('.css'));
  return { script: script.trim(), style: String(style.source).trim() };
}

function within(name, text) {
  const size = Buffer.byteLength(text);
  if (size > BUDGET) throw new Error(`${name} has ${size} bytes, over its budget of ${BUDGET}`);
  console.log(`${name}: ${size} bytes`);
}

function fill(html, placeholder, text) {
  if (html.split(placeholder).length !== 2) throw new Error(`index.html must hold ${placeholder} exactly once`);
  return html.split(placeholder).join(text);
}

/** Escapes characters that are not ASCII: with a single one, a browser stores the whole page, its data too, with two bytes for each character. */
function inAscii(script) {
  return script.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Makes a self-contained page: script and style inside, one place for the data. */
async function pageOf(entry, name) {
  const { script, style } = await bundle(entry);
  let page = await readFile(path.join(here, 'template', 'index.html'), 'utf8');
  page = fill(page, '/*TEMPLATE_STYLE*/', style.replaceAll('</', '<\\/'));
  page = fill(page, '/*TEMPLATE_SCRIPT*/', inAscii(script).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--'));
  if (page.split(MARKER).length !== 2) throw new Error(`${name} must hold ${MARKER} exactly once`);
  within(name, page);
  await writeFile(path.join(out, name), page);
}

await mkdir(out, { recursive: true });
await pageOf('template/main.ts', 'flamegraph.html');
await pageOf('template/heatmap.ts', 'heatmap.html');
