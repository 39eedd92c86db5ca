/** A value as it would read in text, JSON, an address, a form, a hex dump, and in base 64 at any alignment. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const address = encodeURIComponent(value);
  const hex = bytes.toString('hex');
  const aligned = [0, 1, 2].map((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64');
    return text.slice(lead === 0 ? 0 : 4, -4);
  });
  return [
    value,
    bytes.toString('latin1'),
    json,
    // As a line of JSON quotes what is JSON already.
    JSON.stringify(json).slice(1, -1),
    address,
    address.toLowerCase(),
    address.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    ...aligned,
    ...aligned.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** The names of the values that are there, in whichever form. */
export function foundIn(haystack: Buffer | string, values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values)
    .filter(([, value]) => formsOf(value).some((form) => haystack.includes(form)))
    .map(([name]) => name);
}
