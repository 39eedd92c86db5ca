import { randomInt, randomUUID } from 'node:crypto';
import { createRandomPool } from './random-pool.js';

const randomPart = createRandomPool();
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LOWER_CASE_UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Comes before every other id in the order of the database. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A random identifier (UUID version 4). */
export function newId(): string {
  return randomUUID();
}

/** A number from 0 that two processes are unlikely to share. */
export function randomNumberBelow(limit: number): number {
  return randomInt(limit);
}

/** An identifier that sorts by its time of creation (UUID version 7), for append-only tables. */
export function newOrderedId(nowMs: number): string {
  const bytes = randomPart(16);
  markOrdered(bytes, nowMs, 0);
  return uuidOfBytes(bytes);
}

/** The same as bytes, put where they are wanted. */
export function writeOrderedId(target: Buffer, nowMs: number, at: number): void {
  randomPart(16).copy(target, at);
  markOrdered(target, nowMs, at);
}

function markOrdered(bytes: Buffer, nowMs: number, at: number): void {
  bytes.writeUIntBE(nowMs, at, 6);
  bytes.writeUInt8((bytes.readUInt8(at + 6) & 0x0f) | 0x70, at + 6);
  bytes.writeUInt8((bytes.readUInt8(at + 8) & 0x3f) | 0x80, at + 8);
}

/** The first 16 bytes as an identifier is written. */
export function uuidOfBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}

/** In the one spelling a UUID leaves here in. */
export function isLowerCaseUuid(text: string): boolean {
  return LOWER_CASE_UUID_PATTERN.test(text);
}
