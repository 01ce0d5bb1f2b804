// SPDX-License-Identifier: Apache-2.0
// Shortens the names of our own properties in the self-contained pages: bundlers shorten variables only, and half of such a page would
// be the names of fields and methods. A name is left alone when it could belong to anybody else: when it is a member in the browser's or
// the language's own declarations, or when a string is just this name (a key of a document, an attribute).
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** A member in TypeScript's declarations: one a line. */
const MEMBER = /^\s+(?:readonly |static |get |set |abstract )*([A-Za-z_$][\w$]*)\??[:(<]/gm;

/** The members of all that the browser and the language have. */
function declaredMembers() {
  const require = createRequire(import.meta.url);
  const home = path.dirname(require.resolve('typescript/package.json'));
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  const lib = path.join(path.dirname(require.resolve(`${platform}/package.json`, { paths: [home] })), 'lib');
  const words = new Set(['constructor', 'prototype', '__proto__']);
  for (const file of readdirSync(lib).filter((name) => /^lib\.(es|dom).*\.d\.ts$/.test(name))) {
    for (const [, word] of readFileSync(path.join(lib, file), 'utf8').matchAll(MEMBER)) words.add(word);
  }
  return words;
}

function* nodesOf(node) {
  if (Array.isArray(node)) for (const entry of node) yield* nodesOf(entry);
  else if (typeof node?.type === 'string') {
    yield node;
    for (const [key, value] of Object.entries(node)) if (key !== 'type' && typeof value === 'object') yield* nodesOf(value);
  }
}

/** The places of property names: [start, end, name, text to put before the old name or null to replace it]. */
function* propertiesOf(tree) {
  for (const node of nodesOf(tree)) {
    if (node.type === 'MemberExpression' && !node.computed && node.property.type === 'Identifier') yield [node.property, false];
    else if ((node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') && !node.computed && node.key.type === 'Identifier') {
      yield [node.key, node.shorthand === true];
    }
  }
}

function* stringsOf(tree) {
  for (const node of nodesOf(tree)) {
    if (node.type === 'Literal' && typeof node.value === 'string') yield node.value;
    else if (node.type === 'TemplateElement') yield node.value.cooked ?? '';
  }
}

/** Attributes as they are given to element() and buttonOf(). */
function* attributesOf(tree) {
  for (const { type, callee, arguments: given } of nodesOf(tree)) {
    const [, name] = (type === 'CallExpression' && /^(element|buttonOf)(\$\d+)?$/.exec(callee.name ?? '')) || [];
    if (name === undefined) continue;
    for (const { key } of given[name === 'element' ? 1 : 0]?.properties ?? []) if (key?.type === 'Identifier') yield key.name;
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

function* shortNames(taken) {
  for (let length = 1; ; length++) {
    for (let i = 0; i < ALPHABET.length ** length; i++) {
      let name = '';
      for (let rest = i, digit = 0; digit < length; digit++, rest = Math.floor(rest / ALPHABET.length)) name += ALPHABET[rest % ALPHABET.length];
      if (!taken.has(name)) yield name;
    }
  }
}

/** By class: its private members, as the sources declare them. They can be nobody else's, whatever they are called. */
function privateMembers(sources) {
  const members = new Map();
  for (const source of sources) {
    let current = null;
    for (const line of source.split('\n')) {
      const opened = /^(?:export )?class (\w+)/.exec(line);
      if (opened !== null) members.set(opened[1], (current = new Set()));
      for (const [, name] of line.matchAll(/^\s+private (?:readonly |get |set |async )*([A-Za-z_]\w*)/g)) current?.add(name);
    }
  }
  return members;
}

/** Nodes of a function or class body that share its `this`. */
function* sharing(node) {
  if (Array.isArray(node)) for (const entry of node) yield* sharing(entry);
  else if (typeof node?.type === 'string') {
    yield node;
    if (node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration' || node.type === 'ClassBody') return;
    for (const [key, value] of Object.entries(node)) if (key !== 'type' && typeof value === 'object') yield* sharing(value);
  }
}

const isThis = (node) => node?.type === 'ThisExpression';

/** Accesses of `this`, and of what is taken out of it, within one method or field. */
function* ownProperties(body) {
  for (const node of sharing(body)) {
    if (node.type === 'MemberExpression' && !node.computed && isThis(node.object)) yield [node.property, false];
    if (node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern' && isThis(node.init)) {
      for (const property of node.id.properties) if (property.type === 'Property' && !property.computed) yield [property.key, property.shorthand];
    }
  }
}

/** A method that says `this` often gets a short name for it. */
const OFTEN = 5;

function* thisAliases({ value }) {
  if (value.type !== 'FunctionExpression') return;
  const uses = [...sharing(value.body)].filter(isThis);
  if (uses.length < OFTEN || [...sharing(value.body)].some(({ type }) => type === 'Super')) return;
  yield [value.body.start + 1, value.body.start + 1, 'let me_ = this;'];
  for (const { start, end } of uses) yield [start, end, 'me_'];
}

/** Classes with their names; bundlers make them expressions. */
function* classesOf(tree) {
  for (const node of nodesOf(tree)) {
    if (node.type === 'ClassDeclaration') yield [node.id.name, node];
    if (node.type === 'VariableDeclarator' && node.init?.type === 'ClassExpression') yield [node.id.name, node.init];
  }
}

/** Where a member of a class names its own properties. */
function ownPlaces({ value, computed, key }) {
  const places = [...(value ? ownProperties(value.type === 'FunctionExpression' ? [value.params, value.body] : value) : [])];
  return computed ? places : [...places, [key, false]];
}

function* ownNames(node) {
  for (const member of node.body.body) for (const [{ name }] of ownPlaces(member)) yield name;
}

/** Names, each once, the most used first. */
function byUse(names) {
  const uses = new Map();
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  return [...uses.keys()].sort((a, b) => uses.get(b) - uses.get(a));
}

/** All changes of one class. */
function* classChanges(node, secrets, shortOf) {
  for (const member of node.body.body) {
    for (const [{ start, end, name }, isShorthand] of ownPlaces(member)) {
      if (secrets.has(name)) yield [start, end, shortOf(name) + (isShorthand ? `: ${name}` : '')];
    }
    if (member.kind === 'method') yield* thisAliases(member);
  }
}

/** Names that the browser has too, but which these sources use for their own things alone. */
const OURS = new Set(
  'total element frames frame depth count before after columns label parent first last merged omitted start unit self shown rawTotal nodes changes head heads buttons kind kinds place profile range rows samples source step strings threads transform worker line low high bucket cells rank types action request origin index'.split(' '),
);

function* sharedChanges(tree, declared, shortNames) {
  const spoken = new Set([...stringsOf(tree), ...attributesOf(tree)]);
  const places = [...propertiesOf(tree)];
  const ours = byUse(places.map(([{ name }]) => name)).filter((name) => name.length > 2 && (OURS.has(name) || (!declared.has(name) && !spoken.has(name))));
  const short = new Map(ours.map((name) => [name, shortNames.next().value]));
  for (const [{ start, end, name }, isShorthand] of places) {
    if (short.has(name)) yield [start, end, short.get(name) + (isShorthand ? `: ${name}` : '')];
  }
}

/** The changes made; where two begin at one place the first one given counts. */
function apply(code, changes) {
  let result = '';
  let at = 0;
  for (const [start, end, text] of changes.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (start < at) continue;
    result += code.slice(at, start) + text;
    at = end;
  }
  return result + code.slice(at);
}

/** What the language provides and this code says often gets a variable, which the minifier then shortens. */
const BUILT_IN = ['Int32Array', 'Float64Array'];

/** Members of the browser's objects that are long and said often are said by a variable that holds their name. */
const LONG = 6;

function* memberChanges(tree) {
  const places = new Map();
  for (const { type, computed, optional, object, property } of nodesOf(tree)) {
    if (type !== 'MemberExpression' || computed || optional || property.type !== 'Identifier' || property.name.length < LONG || object.name === 'Math') continue;
    places.set(property.name, [...(places.get(property.name) ?? []), [object.end, property.end]]);
  }
  for (const [name, found] of places) {
    // `.name` becomes `[a]`, and once there is `,a="name"`.
    if (found.length * (name.length - 3) <= name.length + 6) continue;
    for (const [start, end] of found) yield [start, end, `[name_${name}]`];
  }
}

/** Texts that are said often are variables too. `texts` receives them, by their numbers. */
function* textChanges(tree, texts) {
  const keys = new Set([...nodesOf(tree)].filter(({ type, computed }) => type === 'Property' && !computed).map(({ key }) => key));
  const places = new Map();
  for (const node of nodesOf(tree)) {
    if (node.type === 'Literal' && typeof node.value === 'string') places.set(node.value, [...(places.get(node.value) ?? []), node]);
  }
  for (const [text, nodes] of places) {
    if (nodes.length * text.length <= text.length + 8) continue;
    for (const node of nodes) yield [node.start, node.end, keys.has(node) ? `[text_${texts.length}]` : `text_${texts.length}`];
    texts.push(text);
  }
}

function* aliasChanges(tree) {
  for (const node of nodesOf(tree)) {
    const isMath = node.type === 'MemberExpression' && node.object.name === 'Math' && !node.computed;
    if (isMath) yield [node.start, node.end, `math_${node.property.name}`];
    for (const place of [node.callee, node.object, node.right]) {
      if (place?.type === 'Identifier' && BUILT_IN.includes(place.name) && node.type !== 'AssignmentExpression') yield [place.start, place.end, `${place.name}_`];
    }
  }
}

function valueOf(name, texts) {
  if (name.startsWith('text_')) return JSON.stringify(texts[name.slice(5)]);
  if (name.startsWith('math_')) return `Math.${name.slice(5)}`;
  return name.startsWith('name_') ? JSON.stringify(name.slice(5)) : name.slice(0, -1);
}

function withAliases(code, parse) {
  const inner = apply(code, [...aliasChanges(parse(code))]);
  const texts = [];
  const tree = parse(inner);
  const result = apply(inner, [...memberChanges(tree), ...textChanges(tree, texts)]);
  const names = new Set(result.match(/\b(?:math|name|text)_\w+|\b(?:Int32Array|Float64Array)_/g));
  return `{\nconst ${[...names].map((name) => `${name} = ${valueOf(name, texts)}`).join(', ')};\n${result}\n}`;
}

/** What the language itself calls. */
const CALLED_UNSEEN = new Set(['constructor', 'toString', 'toJSON', 'valueOf']);

/** Methods that nobody calls go: the web UI uses more of the sources than a page. A call by a method of the same name is none. */
function withoutDeadMethods(code, parse) {
  for (let rest = code; ; ) {
    const tree = parse(rest);
    const methods = [...nodesOf(tree)].filter(({ type, computed, key }) => type === 'MethodDefinition' && !computed && !CALLED_UNSEEN.has(key.name));
    const places = new Map();
    for (const [{ name, start }] of propertiesOf(tree)) places.set(name, [...(places.get(name) ?? []), start]);
    const isDead = ({ key: { name } }) => {
      const own = methods.filter(({ key }) => key.name === name);
      return places.get(name).every((at) => own.some(({ start, end }) => start <= at && at < end));
    };
    const dead = methods.filter(isDead);
    if (dead.length === 0) return rest;
    rest = apply(rest, dead.map(({ start, end }) => [start, end, '']));
  }
}

/** Functions without a `this` are shorter as arrows. They are put first: functions may be used above where they stand. */
function asArrows(code, parse) {
  const [{ expression }] = parse(code).body;
  const { body } = expression.callee;
  const isPlain = (node) => node.type === 'FunctionDeclaration' && !node.generator && [...sharing(node.body)].every((inner) => !isThis(inner) && inner.name !== 'arguments');
  const arrows = body.body.filter(isPlain);
  const text = arrows.map(({ id, async, params, body: inner }) => {
    const list = params.length === 0 ? '' : code.slice(params[0].start, params[params.length - 1].end);
    return `const ${id.name} = ${async ? 'async ' : ''}(${list}) => ${code.slice(inner.start, inner.end)};\n`;
  });
  return apply(code, [[body.start + 1, body.start + 1, text.join('')], ...arrows.map(({ start, end }) => [start, end, ''])]);
}

/** Gives back the code of a bundle (before it is minified) with short property names. `parse` makes an ESTree; `sources` are its modules. */
export function mangle(bundle, parse, sources) {
  const code = withoutDeadMethods(bundle, parse);
  const declared = declaredMembers();
  const secrets = privateMembers(sources);
  const taken = new Set([...propertiesOf(parse(code))].map(([{ name }]) => name));
  const first = [];
  for (const [name, node] of classesOf(parse(code))) {
    if (!secrets.has(name)) continue;
    // Classes share names: what is private in one cannot be met in another. Then these are shortened as all others are.
    const order = byUse([...ownNames(node)].filter((own) => secrets.get(name).has(own)));
    first.push(...classChanges(node, secrets.get(name), (own) => `own_${order.indexOf(own)}`));
  }
  const second = apply(code, first);
  const third = apply(second, [...sharedChanges(parse(second), declared, shortNames(taken))]);
  return withAliases(asArrows(third, parse), parse);
}

/** Rules for classes that the script never says go. */
function withoutUnused(style, script) {
  return style.replace(/([^{}]+)\{[^{}]*\}/g, (rule, selectors) => {
    const isUsed = (selector) => [...selector.matchAll(/\.(hs[fh]?-[a-z-]+)|\[role=(\w+)/g)].every(([, name, role]) => script.includes(name ?? role));
    return selectors.split(/,(?![^(]*\))/).some(isUsed) ? rule : '';
  });
}

/** Shortens what classes and colours of the style are called, in the script and in the style alike. */
export function shortenStyle(script, style) {
  const uses = new Map();
  const pattern = /(?<![\w-])(?:--)?hs[fh]?-[a-z][a-z-]*[a-z]/g;
  for (const [name] of style.matchAll(pattern)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const short = new Map([...uses.keys()].sort((a, b) => uses.get(b) - uses.get(a)).map((name, i) => [name, (name.startsWith('--') ? '--' : 'h') + i.toString(36)]));
  const replace = (text) => text.replace(pattern, (name) => short.get(name) ?? name);
  const used = (name) => script.includes(name) || style.includes(`var(${name})`);
  const trimmed = style.replace(/(--hs-[a-z-]+):[^;}]*;?/g, (text, name) => (used(name) ? text : ''));
  return { script: replace(script), style: replace(withoutUnused(trimmed, script)).replace(/\s*\/\*.*?\*\/\s*/g, '') };
}
