const RAW = Symbol('raw JSON text');

/** A place in a body that is written as it stands: numbers no double holds, keys that come twice, text that is no JSON. */
export interface Raw {
  readonly [RAW]: string;
}

export type Body = null | boolean | number | string | Raw | readonly Body[] | { readonly [name: string]: Body };

export function raw(text: string): Raw {
  return { [RAW]: text };
}

export function toText(body: Body): string {
  if (body === null || typeof body !== 'object') return JSON.stringify(body);
  if (isRaw(body)) return body[RAW];
  if (isList(body)) return `[${body.map(toText).join(',')}]`;
  return `{${Object.entries(body)
    .map(([name, value]) => `${JSON.stringify(name)}:${toText(value)}`)
    .join(',')}}`;
}

/** The same body with one place, by its path, replaced; places on the way that do not exist are made. */
export function withPlace(body: Body, path: readonly (string | number)[], value: Body): Body {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list = isList(body) ? [...body] : [];
    list[step] = withPlace(list[step] ?? null, rest, value);
    return list;
  }
  const before = body !== null && typeof body === 'object' && !isList(body) && !isRaw(body) ? body : {};
  // Built from entries, so that a member named __proto__ becomes one.
  const members = Object.entries(before).filter(([name]) => name !== step);
  return Object.fromEntries([...members, [step, withPlace(before[step] ?? null, rest, value)]]);
}

function isRaw(body: object): body is Raw {
  return RAW in body;
}

function isList(body: Body): body is readonly Body[] {
  return Array.isArray(body);
}
