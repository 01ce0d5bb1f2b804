// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'react';
import controls from './controls.module.css';

interface CopyButtonProps {
  text: string;
  label: string;
  /** The button's words where several copy buttons stand on a page. */
  accessibleName?: string;
}

/** Copies text. A page without https has no clipboard: then the text is shown, selected, to be copied by hand. */
export function CopyButton({ text, label, accessibleName }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'by-hand'>('idle');
  useEffect(() => {
    if (state !== 'copied') return;
    const timer = setTimeout(() => setState('idle'), 2_000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      setState('by-hand');
    }
  };
  return (
    <>
      <button
        type="button"
        className={`${controls['button']} ${controls['small']}`}
        aria-label={accessibleName}
        data-testid="copy"
        onClick={() => void copy()}
      >
        {state === 'copied' ? 'Copied' : label}
      </button>
      <span role="status" className={controls['unseen']}>
        {state === 'copied' ? 'Copied' : ''}
      </span>
      {state === 'by-hand' && (
        <textarea
          className={controls['copy']}
          readOnly
          aria-label="Text to copy"
          rows={Math.min(12, text.split('\n').length + 1)}
          value={text}
          ref={(field) => field?.select()}
        />
      )}
    </>
  );
}
