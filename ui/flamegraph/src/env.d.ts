// SPDX-License-Identifier: Apache-2.0
interface ImportMetaEnv {
  /** Set while the heatmap's page is built, where the flame graph goes without comparisons, tree table, minimap and sandwich. */
  readonly SLIM?: boolean;
}
