// SPDX-License-Identifier: Apache-2.0
export { parseDocument, readDocument, FormatError, MAX_DEPTH, MAX_NODES, type FlameDocument } from './document.ts';
export { formatDecimal, formatPercent, formatValue, groupDigits, typeName } from './format.ts';
export { currentScheme, onSchemeChange, type Scheme } from './palette.ts';
export { Engine, serveFrom, type OpenDocument } from './engine.ts';
export { KINDS } from './frames.ts';
export { NO_LENS, readLens, writeLens, type Lens } from './lens.ts';
export { Profile } from './profile.ts';
export { exactQuery } from './search.ts';
export { frameName, shorten, visibleText } from './text.ts';
export { FlameView, type FlameViewOptions } from './view.ts';
export type { Mode } from './painter.ts';
