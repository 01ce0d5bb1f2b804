// SPDX-License-Identifier: Apache-2.0
// The query API as a script sees it.
export class Api {
  constructor(base, token) {
    this.base = base;
    this.token = token;
  }

  fetch(path, options = {}) {
    const headers = { ...options.headers };
    if (this.token !== undefined) headers.authorization = `Bearer ${this.token}`;
    return fetch(this.base + path, { ...options, headers });
  }

  async get(path) {
    const answer = await this.fetch(path);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  services(range = '') {
    return this.get(`/v1/services?${range}`).then((body) => body.services);
  }

  query(call, workload, type, range = '') {
    const name = new URLSearchParams({ namespace: '', workload, type });
    return this.get(`/v1/${call}?${name}${range && '&' + range}`);
  }
}

// Names of a flame graph's frames: ["dev.hotstack.demo.PriceEngine.computeDiscounts", ...].
export function frameNames(graph) {
  const { frames } = graph;
  return frames.class.map((index, i) => `${graph.strings[index]}.${graph.strings[frames.method[i]]}`);
}
