/** A card with a fingerprint and two search indexes. */
export function card(number = '4242424242424242'): object {
  return {
    type: 'card',
    data: { number, expiration_month: 12, expiration_year: 2031, cvc: '123' },
    fingerprint_expression: '{{ data.number }}',
    search_indexes: ['{{ data.number }}', '{{ data.number | last4 }}'],
  };
}

/** One of many numbers with a check digit that fits. */
export function cardNumber(n: number): string {
  const digits = `4${String(n).padStart(14, '0')}`;
  const sum = [...digits].reduce((all, digit, at) => all + (at % 2 === 0 ? doubled(Number(digit)) : Number(digit)), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

function doubled(digit: number): number {
  return digit > 4 ? digit * 2 - 9 : digit * 2;
}

/** So many cards, as the body of POST /tokenize. */
export function cards(count: number, number?: string): string {
  return JSON.stringify(Array.from({ length: count }, () => card(number)));
}

/** A request as it goes over the wire. */
export function wire(method: string, path: string, key: string, body = '', headers = ''): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nSVC-API-KEY: ${key}\r\n${headers}`;
  if (body === '') return `${head}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export async function call(port: number, key: string, method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'SVC-API-KEY': key, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text;
}
