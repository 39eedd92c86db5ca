import type { LauncherProgram } from '../launcher/program.js';
import { words64 } from './words.js';

/** What a path may be used for; the kernel's bits. */
export const PATH_ACCESS = { execute: 1, read: 4, list: 8 } as const;

export interface PathRule {
  readonly path: string;
  readonly access: number;
}

/** All rights on files that each version of Landlock knows. Newer versions know at least these. */
const FILE_RIGHTS = [0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff];
/** From these versions on it also knows TCP, and signals and abstract sockets. */
const TCP_SINCE = 4;
const SCOPES_SINCE = 6;
const TCP_BIND_AND_CONNECT = 3;
const SCOPE_SOCKETS_AND_SIGNALS = 3;
const RULE_PATH_BENEATH = 1;
const AT_WORKING_FOLDER = -100;
const OPEN_PATH = 0x20_0000 | 0x8_0000;
const RULESET = 4;
const OPENED = 5;

/** Nothing of the file system but these paths, no TCP, no signals out. Descriptor 4 must be free. */
export function restrictPaths(program: LauncherProgram, version: number, rules: readonly PathRule[]): void {
  const handled = FILE_RIGHTS[Math.min(version, FILE_RIGHTS.length - 1)] ?? 0;
  const attributes = [
    handled,
    ...(version >= TCP_SINCE ? [TCP_BIND_AND_CONNECT] : []),
    ...(version >= SCOPES_SINCE ? [SCOPE_SOCKETS_AND_SIGNALS] : []),
  ];
  const bytes = words64(...attributes);
  program.add('landlock_create_ruleset', [bytes, bytes.length, 0], { about: 'Landlock rules' });
  for (const { path, access } of rules) {
    program.add('openat', [AT_WORKING_FOLDER, path, OPEN_PATH], { about: `open ${path}` });
    const rule = Buffer.alloc(16);
    rule.writeBigUInt64LE(BigInt(access), 0);
    rule.writeInt32LE(OPENED, 8);
    program.add('landlock_add_rule', [RULESET, RULE_PATH_BENEATH, rule, 0], { about: `Landlock rule for ${path}` });
    program.add('close', [OPENED]);
  }
  program.add('landlock_restrict_self', [RULESET, 0], { about: 'Landlock' });
  program.add('close', [RULESET]);
}
