/** A request as it is put on the wire. Names, values and target are bytes written as latin1. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer | undefined;
}

const SHOWN_MAX = 1_500;
const RUN_MIN = 40;
const LONE_SURROGATE = '%ed%a0%80';

export function bytesOf({ method, target, headers, body }: Sent): Buffer {
  const content = body === undefined ? undefined : Buffer.from(body);
  const isLengthGiven = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  if (content !== undefined && !isLengthGiven) lines.push(`Content-Length: ${content.length}`);
  const head = Buffer.from(
    `${[`${method} ${target} HTTP/1.1`, 'Host: fuzz', ...lines].join('\r\n')}\r\n\r\n`,
    'latin1',
  );
  return content === undefined ? head : Buffer.concat([head, content]);
}

/** A request of a caller with JSON in its body, as most are. */
export function request(key: string | undefined, method: string, target: string, body?: string): Sent {
  const headers: [string, string][] = key === undefined ? [] : [['SVC-API-KEY', key]];
  if (body !== undefined) headers.push(['Content-Type', 'application/json']);
  return { method, target, headers, body };
}

/** As a path or a query takes it. Half a surrogate pair, which has no encoding, goes as the bytes it would have. */
export function encoded(text: string): string {
  return [...text].map((each) => (/^[\ud800-\udfff]$/.test(each) ? LONE_SURROGATE : encodeURIComponent(each))).join('');
}

/** As the product reads a path; what is broken stays as it is. */
export function onceDecoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** For people: what cannot be printed is escaped, long runs of one character are counted, credentials are cut. */
export function show(bytes: Buffer | string): string {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1', 0, 100_000);
  const printable = text
    .replace(/(.)\1{40,}/gs, (run, one: string) => (run.length < RUN_MIN ? run : `${one}<${run.length} of these>`))
    .replace(/(key_[a-z]{3}_)[0-9A-Za-z]{32}/g, '$1<key>')
    .replace(/[^\x20-\x7e\n]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  if (printable.length <= SHOWN_MAX) return printable;
  return `${printable.slice(0, SHOWN_MAX)}... (${bytes.length} bytes in all)`;
}
