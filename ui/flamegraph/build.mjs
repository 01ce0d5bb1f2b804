// Builds the renderer as one small module (dist/flamegraph.js, for measure and for other pages) and the self-contained page
// (dist/flamegraph.html). Fails when either outgrows its budget or when the page breaks its promises.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const BUDGET = 60 * 1024;
const MARKER = '/*HOTSTACK_DATA*/';
const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(process.env.HOTSTACK_UI_OUT ?? path.join(here, '..', 'dist'), 'flamegraph');

async function bundle(entry, format) {
  const result = await build({
    configFile: false,
    root: here,
    logLevel: 'warn',
    cacheDir: path.join(out, '.vite'),
    build: {
      write: false,
      target: 'es2022',
      cssTarget: 'chrome123',
      minify: true,
      lib: { entry: path.join(here, entry), formats: [format], name: 'hotstack', fileName: 'flamegraph', cssFileName: 'flamegraph' },
    },
  });
  const { output } = Array.isArray(result) ? result[0] : result;
  const script = output.find((file) => file.type === 'chunk').code;
  const style = output.find((file) => file.fileName.endsWith('.css'));
  return { script: script.trim(), style: style === undefined ? '' : String(style.source).trim() };
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

const library = await bundle('src/index.ts', 'es');
within('flamegraph.js', library.script);

const { script, style } = await bundle('template/main.ts', 'iife');
let page = await readFile(path.join(here, 'template', 'index.html'), 'utf8');
page = fill(page, '/*TEMPLATE_STYLE*/', style.replaceAll('</', '<\\/'));
page = fill(page, '/*TEMPLATE_SCRIPT*/', script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--'));
if (page.split(MARKER).length !== 2) throw new Error(`flamegraph.html must hold ${MARKER} exactly once`);
within('flamegraph.html', page);

await mkdir(out, { recursive: true });
await writeFile(path.join(out, 'flamegraph.js'), library.script);
await writeFile(path.join(out, 'flamegraph.html'), page);
