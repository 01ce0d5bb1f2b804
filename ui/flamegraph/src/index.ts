// SPDX-License-Identifier: Apache-2.0
export { parseDocument, readDocument, FormatError, MAX_DEPTH, MAX_NODES, type FlameDocument } from './document/document.ts';
export { formatDecimal, formatPercent, formatValue, groupDigits, typeName } from './format.ts';
export { currentScheme, onSchemeChange, type Scheme } from './drawing/palette.ts';
export { Engine, serveFrom, type OpenDocument } from './engine.ts';
export { KINDS } from './document/frames.ts';
export { NO_LENS, readLens, writeLens, type Lens } from './lens/lens.ts';
export { Profile } from './document/profile.ts';
export { exactQuery } from './lens/search.ts';
export { frameName, shorten, visibleText } from './text.ts';
export { FlameView, type FlameViewOptions } from './view.ts';
export type { Mode } from './drawing/painter.ts';
