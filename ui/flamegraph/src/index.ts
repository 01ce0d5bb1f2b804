export { parseDocument, readDocument, FormatError, MAX_DEPTH, MAX_NODES, type FlameDocument } from './document.ts';
export { formatDecimal, formatPercent, formatValue, groupDigits, typeName } from './format.ts';
export { currentScheme, onSchemeChange, type Scheme } from './palette.ts';
export { KINDS, Profile } from './profile.ts';
export { exactQuery } from './search.ts';
export { frameName, shorten, visibleText } from './text.ts';
export { FlameView, type FlameViewOptions } from './view.ts';
export type { Mode } from './painter.ts';
