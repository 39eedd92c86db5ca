import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface MountedEditor {
  /** Shows another text than the one that was typed. */
  setText(text: string): void;
  setAttributes(attributes: Readonly<Record<string, string>>): void;
  unmount(): void;
}

export interface EditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  readonly isReadOnly: boolean;
  /** Of the element that is typed into: its name, and what is wrong with it. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly onChange: (text: string) => void;
}

/** The colours are those of the page: variables are inherited into the tree of the editor. */
const LOOK = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    fontVariantLigatures: 'none',
    lineHeight: '1.55',
    maxHeight: '32rem',
  },
  '.cm-content, .cm-gutter': { minHeight: '12rem' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.5rem', padding: '0 8px 0 0' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--sunken)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword], color: 'var(--series-3)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--danger)', textDecoration: 'underline' },
]);

/**
 * Where typed text replaces a selection, browsers keep the look of what stood there as inline styles, which the policy refuses. So
 * the editor replaces it.
 */
const TYPED_OVER = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.data === null || view.composing || view.state.readOnly) return false;
    const { from, to } = replacedIn(view);
    if (from === to) return false;
    event.preventDefault();
    const insert = view.state.toText(event.data);
    view.dispatch({
      ...{ changes: { from, to, insert }, selection: { anchor: from + insert.length } },
      ...{ userEvent: 'input.type', scrollIntoView: true },
    });
    return true;
  },
});

/** The selection that the editor knows of, or one so new that only the browser does. */
function replacedIn(view: EditorView): { readonly from: number; readonly to: number } {
  const { main } = view.state.selection;
  const shadowRoots = view.root instanceof ShadowRoot ? [view.root] : [];
  const [range] = getSelection()?.getComposedRanges?.({ shadowRoots }) ?? [];
  if (!main.empty || !range || range.collapsed || !view.contentDOM.contains(range.startContainer)) return main;
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}

/**
 * Mounts the editor in a shadow root: there its styles are adopted sheets, where elsewhere they would be inline ones, which the
 * policy of the pages refuses. Escape and then Tab leaves it, as CodeMirror has it.
 */
export function mountEditor({ host, text, isReadOnly, attributes, onChange }: EditorOptions): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const named = new Compartment();
  let given = JSON.stringify(attributes);
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        ...[lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), indentUnit.of('  ')],
        ...[javascript(), syntaxHighlighting(COLOURS), LOOK, TYPED_OVER, EditorView.lineWrapping],
        ...(isReadOnly ? [EditorState.readOnly.of(true)] : [highlightActiveLine()]),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        named.of(EditorView.contentAttributes.of({ ...attributes })),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (next) => {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    setAttributes: (next) => {
      if (JSON.stringify(next) === given) return;
      given = JSON.stringify(next);
      view.dispatch({ effects: named.reconfigure(EditorView.contentAttributes.of({ ...next })) });
    },
    unmount: () => view.destroy(),
  };
}
