/** As much of CBOR (RFC 8949) as authenticators write. */
export type CborValue = number | string | Buffer | readonly CborValue[] | CborMap;
export type CborMap = ReadonlyMap<string | number, CborValue>;

export function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    const pairs = [...(value as CborMap)].flatMap(([key, each]) => [cbor(key), cbor(each)]); // The one kind with keys.
    return Buffer.concat([head(5, value.size), ...pairs]);
  }
  const items = [...(value as readonly CborValue[])]; // The only kind that is left.
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, argument: number): Buffer {
  const first = major << 5;
  if (argument < 24) return Buffer.from([first | argument]);
  if (argument < 0x100) return Buffer.from([first | 24, argument]);
  const bytes = Buffer.from([first | 25, 0, 0]);
  bytes.writeUInt16BE(argument, 1);
  return bytes;
}
