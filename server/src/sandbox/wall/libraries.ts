import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Arch } from '@strongroom/engine/launcher.js';

/** What a program needs beside itself to be started. */
export interface ProgramNeeds {
  /** The loader of libraries: the path the program names, and the file it leads to. */
  readonly interpreter: string;
  readonly interpreterFile: string;
  readonly libraries: readonly { readonly name: string; readonly file: string }[];
}

const TRIPLE: Readonly<Record<Arch, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
const INTERPRETER = 3;
const DYNAMIC = 2;
const LOADED = 1;
const NEEDED = 1n;
const STRING_TABLE = 5n;
const SEGMENT_BYTES = 56;
const DYNAMIC_BYTES = 16;
const NAME_BYTES_MAX = 128;

interface Segment {
  readonly type: number;
  readonly offset: bigint;
  readonly address: bigint;
  readonly bytes: bigint;
}

/** Read from the file's own headers, without running anything, and found in the usual folders. */
export function needsOf(program: string, arch: Arch): ProgramNeeds {
  const { interpreter, names } = readElf(program);
  const interpreterFile = realpathSync(interpreter);
  const folders = [
    dirname(interpreterFile),
    ...['/lib', '/usr/lib'].map((folder) => `${folder}/${TRIPLE[arch]}`),
    ...['/lib64', '/usr/lib64', '/lib', '/usr/lib'],
  ];
  const libraries = names.filter((name) => name !== basename(interpreter)).map((name) => find(name, folders));
  return { interpreter, interpreterFile, libraries };
}

function find(name: string, folders: readonly string[]): { name: string; file: string } {
  const folder = folders.find((each) => existsSync(join(each, name)));
  if (folder === undefined) throw new Error(`the library ${name} is not on this machine`);
  return { name, file: realpathSync(join(folder, name)) };
}

function readElf(path: string): { readonly interpreter: string; readonly names: readonly string[] } {
  const descriptor = openSync(path, 'r');
  const read = (offset: bigint, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    const got = readSync(descriptor, buffer, 0, bytes, Number(offset));
    return buffer.subarray(0, got);
  };
  try {
    const segments = segmentsIn(read);
    const interpreter = segments.find(({ type }) => type === INTERPRETER);
    const dynamic = segments.find(({ type }) => type === DYNAMIC);
    if (!interpreter || !dynamic) throw new Error(`${path} is no program with libraries`);
    const text = textIn(read(interpreter.offset, Number(interpreter.bytes)));
    return { interpreter: text, names: namesIn(read, read(dynamic.offset, Number(dynamic.bytes)), segments) };
  } finally {
    closeSync(descriptor);
  }
}

type Read = (offset: bigint, bytes: number) => Buffer;

function segmentsIn(read: Read): Segment[] {
  const head = read(0n, 64);
  const first = head.readBigUInt64LE(32);
  return Array.from({ length: head.readUInt16LE(56) }, (_, index) => {
    const segment = read(first + BigInt(index * SEGMENT_BYTES), SEGMENT_BYTES);
    return {
      type: segment.readUInt32LE(0),
      offset: segment.readBigUInt64LE(8),
      address: segment.readBigUInt64LE(16),
      bytes: segment.readBigUInt64LE(32),
    };
  });
}

function namesIn(read: Read, dynamic: Buffer, segments: readonly Segment[]): string[] {
  const needed: bigint[] = [];
  let strings = 0n;
  for (let at = 0; at < dynamic.length; at += DYNAMIC_BYTES) {
    const tag = dynamic.readBigUInt64LE(at);
    const value = dynamic.readBigUInt64LE(at + 8);
    if (tag === NEEDED) needed.push(value);
    if (tag === STRING_TABLE) strings = value;
  }
  const loaded = segments.find(
    ({ type, address, bytes }) => type === LOADED && strings >= address && strings < address + bytes,
  );
  const offset = loaded ? strings - loaded.address + loaded.offset : strings;
  return needed.map((name) => textIn(read(offset + name, NAME_BYTES_MAX)));
}

function textIn(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end === -1 ? bytes.length : end).toString();
}
