// SPDX-License-Identifier: Apache-2.0
// Builds the self-contained pages (dist/flamegraph.html ...): the renderer and what stands around it in one file. Fails when one outgrows its budget or when a page breaks its promises.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { minify } from 'rolldown/experimental';
import { build, parseAst } from 'vite';
import { mangle, shortenStyle } from './mangle.mjs';

const BUDGET = 60 * 1024;
const MARKER = '/*HOTSTACK_DATA*/';
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(process.env.HOTSTACK_UI_OUT ?? path.join(here, '..', 'dist'), 'flamegraph');

/** One script and one style of an entry and all that it imports. */
async function bundle(entry, slim) {
  const result = await build({
    configFile: false,
    root: here,
    logLevel: 'warn',
    define: { 'import.meta.env.SLIM': String(slim) },
    cacheDir: path.join(out, '.vite'),
    build: {
      write: false,
      target: 'es2022',
      cssTarget: 'chrome123',
      minify: false,
      cssMinify: true,
      lib: { entry: path.join(here, entry), formats: ['iife'], name: 'hotstack', fileName: 'page', cssFileName: 'page' },
    },
  });
  const { output } = Array.isArray(result) ? result[0] : result;
  const loose = output.find((file) => file.type === 'chunk').code;
  const style = output.find((file) => file.fileName.endsWith('.css'));
  const sources = await Promise.all(output.flatMap((file) => file.moduleIds ?? []).filter((id) => id.endsWith('.ts')).map((id) => readFile(id, 'utf8')));
  const { code, errors } = await minify('page.js', mangle(loose, parseAst, sources), { mangle: { toplevel: true }, compress: { target: 'es2022' } });
  if (errors.length > 0) throw new Error(errors[0].message);
  return shortenStyle(code.trim(), String(style.source).trim());
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

/** One character of more than a byte has a browser turn all of a page, its data too, into two bytes each: they are escaped. */
function inAscii(script) {
  return script.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A page of its own: script and style inside, one place for the data. */
async function pageOf(entry, name, slim) {
  const { script, style } = await bundle(entry, slim);
  let page = await readFile(path.join(here, 'template', 'index.html'), 'utf8');
  page = fill(page, '/*TEMPLATE_STYLE*/', style.replaceAll('</', '<\\/'));
  page = fill(page, '/*TEMPLATE_SCRIPT*/', inAscii(script).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--'));
  if (page.split(MARKER).length !== 2) throw new Error(`${name} must hold ${MARKER} exactly once`);
  within(name, page);
  await writeFile(path.join(out, name), page);
}

await mkdir(out, { recursive: true });
await pageOf('template/main.ts', 'flamegraph.html', false);
await pageOf('template/heatmap.ts', 'heatmap.html', true);
