import { notForAddress } from '../../tenant/address-text.js';

/** What was typed, as it is asked for; or why it is not asked for at all. */
export type ReadSearch = { readonly query: string } | { readonly fault: string };

const HIDDEN_FIELD = /(?:^|[\s(!-])(data|fingerprint)\s*:/i;
/** Field and value, or operators: a query already. */
const QUERY = /[:()"]/;

/**
 * A word alone is an id. What must not be in an address goes into none: an address is kept by the browser, by proxies and by who
 * gets it sent, and looking for a value would be a way to read it.
 */
export function readSearch(typed: string): ReadSearch {
  const text = typed.trim();
  const field = HIDDEN_FIELD.exec(text)?.[1];
  if (field !== undefined)
    return { fault: `${field.toLowerCase()} is not searched here: people find tokens, not values.` };
  const secret = notForAddress(text);
  if (secret === 'a key')
    return { fault: 'This is a key. Keys are searched nowhere; rotate it if it was shown to anybody.' };
  if (secret !== undefined) {
    return { fault: 'This may be a card number, and values are not searched. If it is an id, write id: before it.' };
  }
  if (text === '' || QUERY.test(text)) return { query: text };
  return { query: `id:"${text.replaceAll('\\', '\\\\')}"` };
}
