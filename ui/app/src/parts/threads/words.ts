// SPDX-License-Identifier: Apache-2.0
// Names of the API in words that a reader knows.
import { formatValue, frameName, groupDigits, shorten, visibleText } from '@hotstack/flamegraph';
import { plural } from '../words.ts';
import type { AnswerMeta, BusyThread, Frame, Lock, Sources } from '../../api/threads.ts';

/** Returns the safe text of an API name that this version does not know. */
export function unknownWord(name: string): string {
  return shorten(visibleText(name), 40);
}

function wordFor<T>(words: Record<string, T>, name: string, unknown: T): T {
  return Object.hasOwn(words, name) ? words[name]! : unknown;
}

export interface Word {
  name: string;
  explanation: string;
}

const CONFIDENCE: Record<string, Word> = {
  exact_cpu: { name: 'exact CPU', explanation: 'The JVM told the CPU time of this thread in each snapshot.' },
  runnable_samples: {
    name: 'runnable samples',
    explanation: 'The JVM did not tell CPU times. The figure is estimated from the share of snapshots that saw the thread runnable.',
  },
  profile_only: {
    name: 'profile only',
    explanation:
      'There are no snapshots of this thread. The figure is estimated from CPU samples, which may come from several threads of one name.',
  },
};

export function confidenceWord(confidence: string): Word {
  const explanation = 'This page does not know how the figure was found.';
  return wordFor(CONFIDENCE, confidence, { name: unknownWord(confidence), explanation });
}

const SLOW: Record<string, Word> = {
  blocked: { name: 'blocked', explanation: 'Waits to enter a monitor that another thread holds.' },
  waiting_for_lock: { name: 'waiting for a lock', explanation: 'Waits for a lock of java.util.concurrent that another thread holds.' },
  class_initialisation: { name: 'class initialisation', explanation: 'Probably waits until another thread has initialised a class.' },
  unknown_holder: {
    name: 'holder unknown',
    explanation: 'Waits for a lock of which the JVM does not know the holder, for example a read lock.',
  },
  deadlocked: { name: 'deadlocked', explanation: 'Is part of a deadlock, and cannot go on.' },
};

export function slowWord(kind: string): Word {
  return wordFor(SLOW, kind, { name: unknownWord(kind), explanation: '' });
}

const HOLDER_KINDS: Record<string, string> = {
  java: '',
  virtual: 'virtual thread',
  ended: 'has ended',
  ended_or_virtual: 'has ended, or is a virtual thread',
  unknown: 'not in the snapshot',
};

/** Returns the note beside a holder's name; '' = it is an ordinary thread. */
export function holderNote(kind: string): string {
  return wordFor(HOLDER_KINDS, kind, unknownWord(kind));
}

/** Returns `#30 vt-worker`, or `#30` of a virtual thread without a name. As recorded, not made safe. */
export function virtualName({ java_tid, name }: { java_tid: number; name: string }): string {
  return name === '' ? `#${java_tid}` : `#${java_tid} ${name}`;
}

const LOCK_KINDS: Record<string, Word> = {
  monitor: { name: 'monitor', explanation: 'Taken by a synchronized method or block.' },
  juc: { name: 'j.u.c.', explanation: 'A lock of java.util.concurrent.' },
  unknown: { name: 'not known', explanation: 'The snapshot does not tell what kind of lock it is.' },
};

export function lockKind(kind: string): Word {
  return wordFor(LOCK_KINDS, kind, { name: unknownWord(kind), explanation: '' });
}

/** Returns `java.lang.Object@1b2c3d4e`. As recorded, not made safe. */
export function lockName({ class: cls, id }: Pick<Lock, 'class' | 'id'>): string {
  return `${cls}@${id}`;
}

const ENDS: Record<string, string> = {
  resolved: 'the threads went on',
  jvm_ended: 'the JVM ended',
  collector_silent: 'the collector of the node fell silent, so it is not known whether the threads still wait',
};

export function endWord(reason: string | null): string {
  return reason === null ? 'for a reason that is not known' : wordFor(ENDS, reason, unknownWord(reason));
}

/** Returns the exact CPU time behind the cores, and its interval. */
export function cpuFigure({ cpu_ns, interval_ms }: Pick<BusyThread, 'cpu_ns' | 'interval_ms'>): string {
  return `${groupDigits(String(cpu_ns))} ns of CPU in ${formatValue(interval_ms * 1e6, 'ns')}`;
}

/** Returns `com.acme.Cart.total (Cart.java:42)`, made safe. */
export function frameText({ class: cls, method, file, line }: Frame): string {
  const name = visibleText(frameName(cls, method));
  const source = line <= 0 ? file : file === '' ? `line ${line}` : `${file}:${line}`;
  return source === '' ? name : `${name} (${visibleText(source)})`;
}

/** Returns `com.acme.Cart.total` of the top frame. */
export function topFrame(stack: Frame[]): string {
  const frame = stack[0];
  return frame === undefined ? '' : visibleText(frameName(frame.class, frame.method));
}

/** Returns the gaps of an answer, one sentence each, with the next step. */
export function shortfalls({ threads_cut, stacks_cut, no_cpu }: Sources, { truncated, sampled, missing, nodes_omitted }: AnswerMeta): string[] {
  const found: string[] = [];
  if (truncated) found.push('The query stopped at its budget, so this is less than the whole. Choose a shorter time range or one pod.');
  if (sampled) found.push('This was computed from a sample of the rows. Choose a shorter time range for exact figures.');
  if (missing.length > 0) found.push(`The store did not give: ${visibleText(missing.join(', '))}. Load the page again.`);
  if (nodes_omitted > 0)
    found.push(
      `${plural(nodes_omitted, 'row was', 'rows were')} left off the end of the list. Choose a shorter time range, one pod or one pool to see them.`,
    );
  if (threads_cut > 0) {
    found.push(
      `${plural(threads_cut, 'snapshot holds', 'snapshots hold')} fewer threads than the JVM has. "hotstack threads PID" on the node shows all.`,
    );
  }
  if (stacks_cut > 0) {
    found.push(`${plural(stacks_cut, 'snapshot lacks', 'snapshots lack')} stacks of threads that matter: taking them would have stopped the JVM for too long.`);
  }
  if (no_cpu > 0) {
    found.push(
      `In ${plural(no_cpu, 'snapshot')} the JVM told no CPU times: there a thread counts as busy by how often it was seen running. Something in the JVM switched them off.`,
    );
  }
  return found;
}

/** Missing sources of several JVMs for the same reason are one. */
export interface MissingGroup {
  source: string;
  reason: string;
  explanation: string;
  fix: string;
  jvms: number;
}

export function groupMissing(missing: Sources['missing']): MissingGroup[] {
  const found = new Map<string, MissingGroup>();
  for (const { source, reason, explanation, fix } of missing) {
    const key = JSON.stringify([source, reason]);
    const known = found.get(key);
    if (known === undefined) found.set(key, { source, reason, explanation, fix, jvms: 1 });
    else known.jvms++;
  }
  return [...found.values()].sort((a, b) => b.jvms - a.jvms);
}
