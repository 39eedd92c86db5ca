import type { EngineRequest } from '../run.js';
import { decodeFrame } from './frame.js';

/** Reads a request that came out of the engine; undefined for what is none. */
export function readEngineRequest(bytes: Buffer): { readonly id: number; readonly request: EngineRequest } | undefined {
  const frame = decodeFrame(bytes);
  const head = frame?.head as Readonly<Record<string, unknown>> | null | undefined;
  if (!frame || typeof head !== 'object' || head === null) return undefined;
  const { id, to, method, url, headers } = head;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined;
  if ((to !== 'outside' && to !== 'api') || typeof method !== 'string' || typeof url !== 'string') return undefined;
  if (!Array.isArray(headers) || !headers.every(isHeader)) return undefined;
  return { id, request: { to, method, url, headers, body: frame.body } };
}

function isHeader(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
