import type { ReactNode, RefObject } from 'react';
import { useEffect, useId, useRef, useState } from 'react';
import { classes } from '../ui/classes.js';
import { TextArea } from '../ui/text-area.js';
import type { MountedEditor } from './mount-editor.js';

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly isReadOnly?: boolean;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}

/** An editor for JavaScript. It is loaded when it is first shown; where that fails, a plain field takes its place. */
export function CodeEditor(props: CodeEditorProps) {
  const { label, value, onChange, isReadOnly = false, hint, error } = props;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const state = useMountedEditor(host, props);
  if (state === 'failed') {
    return (
      <TextArea
        isCode
        rows={14}
        {...{ label, value, hint, error, readOnly: isReadOnly }}
        onChange={(event) => onChange?.(event.target.value)}
      />
    );
  }
  return (
    <div className="space-y-1.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <p id={id} className="text-sm font-medium">
          {label}
        </p>
        {!isReadOnly && <p className="text-xs text-muted">Escape, then Tab leaves the editor</p>}
      </div>
      <div
        className={classes(
          'min-h-48 overflow-hidden rounded-lg border bg-card focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent',
          error === undefined ? 'border-line-strong' : 'border-danger',
        )}
      >
        <div ref={host} />
        {state === 'loading' && (
          <p role="status" className="p-4 text-sm text-muted">
            Loading the editor
          </p>
        )}
      </div>
      {hint && <p className="text-[13px] text-muted">{hint}</p>}
      {error && <p className="text-[13px] text-danger">{error}</p>}
    </div>
  );
}

/** Names do not reach into the tree of the editor by ids, so they are given as texts. */
function attributesOf({ label, isReadOnly, hint, error }: CodeEditorProps): Readonly<Record<string, string>> {
  const told = [typeof hint === 'string' ? hint : undefined, error].filter((text) => text !== undefined);
  return {
    'aria-label': label,
    'aria-invalid': String(error !== undefined),
    tabindex: '0', // It has the focus without that as well, but what checks pages does not know.
    ...(told.length > 0 && { 'aria-description': told.join('. ') }),
    ...(isReadOnly && { 'aria-readonly': 'true' }),
  };
}

function useMountedEditor(host: RefObject<HTMLDivElement | null>, props: CodeEditorProps) {
  const [state, setState] = useState<'loading' | 'mounted' | 'failed'>('loading');
  const editor = useRef<MountedEditor>(undefined);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
    editor.current?.setText(props.value);
    editor.current?.setAttributes(attributesOf(props));
  });
  useEffect(() => {
    let isGone = false;
    import('./mount-editor.js').then(
      ({ mountEditor }) => {
        if (isGone || !host.current) return;
        const { value, isReadOnly = false } = latest.current;
        editor.current = mountEditor({
          ...{ host: host.current, text: value, isReadOnly, attributes: attributesOf(latest.current) },
          onChange: (text) => text !== latest.current.value && latest.current.onChange?.(text),
        });
        setState('mounted');
      },
      () => setState('failed'),
    );
    return () => {
      isGone = true;
      editor.current?.unmount();
      editor.current = undefined;
    };
  }, [host]);
  return state;
}
