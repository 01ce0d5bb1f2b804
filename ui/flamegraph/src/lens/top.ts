// SPDX-License-Identifier: Apache-2.0
// Top table of a flame graph: self and total of each frame. Only for pages without a server, because a server counts all rows.
import type { Profile } from '../document/profile.ts';

export interface TopRow {
  frame: number;
  self: number;
  total: number;
}

/** Returns the heaviest frames by self, then total; a recursive frame counts once per stack. */
export function topFrames(profile: Profile, limit: number): TopRow[] {
  const self = new Float64Array(profile.frameCount);
  const total = new Float64Array(profile.frameCount);
  // The end of the outermost open call of each frame; calls inside it are recursion.
  const openTo = new Int32Array(profile.frameCount);
  for (let node = 1; node < profile.nodeCount; node++) {
    const frame = profile.frame[node]!;
    self[frame]! += profile.self[node]!;
    if (node < openTo[frame]!) continue;
    total[frame]! += profile.total[node]!;
    openTo[frame] = profile.end[node]!;
  }
  const rows = Array.from(self, (value, frame) => ({ frame, self: value, total: total[frame]! }));
  return rows
    .filter((row) => row.total > 0)
    .sort((a, b) => b.self - a.self || b.total - a.total || a.frame - b.frame)
    .slice(0, limit);
}
