/**
 * An absolute URL, or undefined for what is none. `URL.canParse` would say which, but in Node 20 it says yes to some text
 * that has none once its callers are compiled, and the constructor then throws.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
