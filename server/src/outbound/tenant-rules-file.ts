import { readFileSync, statSync } from 'node:fs';
import type { TenantOutboundRules } from './policy.js';
import { parseAllowRules, parseDenyRules } from './rules.js';

const FILE_BYTES_MAX = 4 * 1024 * 1024;
const TENANT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MEMBERS = ['allow', 'deny', 'public'];

/**
 * What the operator says about single tenants: `{ "<tenant id>": { "allow": [], "deny": [], "public": "refused" } }`, every
 * member optional. Anything else in the file is a fault, because a rule that nobody reads is one that nobody enforces.
 */
export function readTenantRules(path: string): ReadonlyMap<string, TenantOutboundRules> {
  const file = parseObject(readSmallFile(path, FILE_BYTES_MAX));
  return new Map(
    Object.entries(file).map(([tenantId, entry], index) => {
      if (!TENANT_ID.test(tenantId)) throw new Error(`names a file whose entry ${index + 1} is not under a tenant id.`);
      try {
        return [tenantId, parseEntry(entry)];
      } catch (error) {
        const why = error instanceof Error ? error.message : 'is not valid.';
        throw new Error(`names a file where the entry of tenant ${tenantId} ${why}`, { cause: error });
      }
    }),
  );
}

/** The text of a file that a setting names. Throws what a setting says about it. */
export function readSmallFile(path: string, bytesMax: number): string {
  try {
    if (statSync(path).size <= bytesMax) return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as { code?: unknown }; // Read as unknown and only printed.
    throw new Error(`names a file that cannot be read (${String(code)}).`, { cause: error });
  }
  throw new Error(`names a file of more than ${bytesMax} bytes.`);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('names a file that is not JSON.', { cause: error });
  }
  if (!isObject(value)) throw new Error('names a file that is not a JSON object of tenants.');
  return value;
}

function parseEntry(entry: unknown): TenantOutboundRules {
  if (!isObject(entry) || Object.keys(entry).some((name) => !MEMBERS.includes(name))) {
    throw new Error(`must be an object with no other members than ${MEMBERS.join(', ')}.`);
  }
  const { allow = [], deny = [], public: access } = entry;
  if (access !== undefined && access !== 'allowed' && access !== 'refused') {
    throw new Error('must have allowed or refused as public.');
  }
  if (!isTexts(allow) || !isTexts(deny)) throw new Error('must have lists of texts as allow and deny.');
  return { allow: parseAllowRules(allow), deny: parseDenyRules(deny), public: access };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
