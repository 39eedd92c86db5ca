/** Architectures that the sandbox knows, by the names Node has for them. */
export type Arch = 'x64' | 'arm64';

/** Machine code of launcher/x64.S and launcher/arm64.S. A test assembles both again, where there is an assembler. */
export const LAUNCHER_CODE: Readonly<Record<Arch, string>> = {
  x64: [
    'bb0000001031c031ff4889deba000001000f054885c0786674054801c3ebe6bb00000010488b03488b7b08488b7310488b53',
    '184c8b53204c8b43284c8b4b30448b633841f6c40274034c89ef0f0541f6c40474034989c54885c07816741a41f6c4087414',
    '8b433cc1e0068d9800000010ebb241f6c40174064883c340eba6f7d881eb00000010c1eb065053b801000000bf0200000048',
    '89e6ba100000000f05b8e7000000bf7d0000000f05',
  ].join(''),
  arm64: [
    '1300a2d2e80780d2000080d2e10313aa2200a0d2010000d41f0000f12b030054600000547302008bf7ffff171300a2d26802',
    '40f9608640a9628e41a9649642a9745a472954000836e00315aa010000d454001036f50300aa1f0000f1cb000054c0000054',
    'b40018361300a2d2731a168bf0ffff177400003673020191edffff17e10300cb0300a2d2600203cb00fc46d3e007bfa90808',
    '80d2400080d2e1030091020280d2010000d4c80b80d2a00f80d2010000d4',
  ].join(''),
};

/** Where the launcher puts the table it reads, and how much room there is. Pointers in the table are addresses in there. */
export const TABLE_ADDRESS = 0x1000_0000;
export const TABLE_BYTES_MAX = 0x4_0000;

const TEXT_ADDRESS = 0x40_0000;
const MACHINE: Readonly<Record<Arch, number>> = { x64: 62, arm64: 183 };
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const PAGE = 0x1_0000;
const LOAD = 1;
const GNU_STACK = 0x6474_e551;
const READ_EXECUTE = 5;
const READ_WRITE = 6;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  /** Bytes of the file from its start. */
  readonly fileBytes: number;
  readonly memoryBytes: number;
}

/** The whole launcher: a static ELF program without libraries, a few hundred bytes. */
export function launcherImage(arch: Arch): Buffer {
  const code = Buffer.from(LAUNCHER_CODE[arch], 'hex');
  const headBytes = HEADER_BYTES + 3 * SEGMENT_BYTES;
  const bytes = headBytes + code.length;
  const segments: readonly Segment[] = [
    { type: LOAD, flags: READ_EXECUTE, address: TEXT_ADDRESS, fileBytes: bytes, memoryBytes: bytes },
    { type: LOAD, flags: READ_WRITE, address: TABLE_ADDRESS, fileBytes: 0, memoryBytes: TABLE_BYTES_MAX },
    { type: GNU_STACK, flags: READ_WRITE, address: 0, fileBytes: 0, memoryBytes: 0 },
  ];
  return Buffer.concat([
    elfHeader(arch, TEXT_ADDRESS + headBytes, segments.length),
    ...segments.map(segmentHeader),
    code,
  ]);
}

function elfHeader(arch: Arch, entry: number, segments: number): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  // 64 bits, little-endian, version 1.
  head.write('\x7fELF\x02\x01\x01', 'latin1');
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(MACHINE[arch], 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(entry), 24);
  head.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  head.writeUInt16LE(HEADER_BYTES, 52);
  head.writeUInt16LE(SEGMENT_BYTES, 54);
  head.writeUInt16LE(segments, 56);
  head.writeUInt16LE(64, 58);
  return head;
}

function segmentHeader({ type, flags, address, fileBytes, memoryBytes }: Segment): Buffer {
  const head = Buffer.alloc(SEGMENT_BYTES);
  head.writeUInt32LE(type, 0);
  head.writeUInt32LE(flags, 4);
  for (const [at, value] of [0, address, address, fileBytes, memoryBytes, PAGE].entries()) {
    head.writeBigUInt64LE(BigInt(value), 8 + 8 * at);
  }
  return head;
}
