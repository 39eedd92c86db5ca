// needs: processes

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram, unless } from '@strongroom/test-servers/find.js';
import type { Arch } from './launcher.js';
import { LAUNCHER_CODE, launcherImage } from './launcher.js';

const SOURCES = fileURLToPath(new URL('../launcher/', import.meta.url));
/** Assemblers by architecture, as Debian names them. */
const TOOLS: Readonly<Record<Arch, { readonly as: string; readonly objcopy: string }>> = {
  x64: { as: 'x86_64-linux-gnu-as', objcopy: 'x86_64-linux-gnu-objcopy' },
  arm64: { as: 'aarch64-linux-gnu-as', objcopy: 'aarch64-linux-gnu-objcopy' },
};

describe('the launcher', () => {
  for (const arch of ['x64', 'arm64'] as const) {
    const { as, objcopy } = TOOLS[arch];
    const skip = unless(findProgram(as) && findProgram(objcopy), as);
    it(`for ${arch} is its source, assembled`, { skip }, () => {
      const folder = mkdtempSync(join(tmpdir(), 'strongroom-launcher-'));
      try {
        const [object, code] = [join(folder, 'object'), join(folder, 'code')];
        execFileSync(as, [join(SOURCES, `${arch}.S`), '-o', object]);
        execFileSync(objcopy, ['-O', 'binary', '-j', '.text', object, code]);
        assert.equal(readFileSync(code, 'hex'), LAUNCHER_CODE[arch]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it(`for ${arch} is a program of a few hundred bytes, whose code cannot be written and whose data cannot be run`, () => {
      const image = launcherImage(arch);
      assert.ok(image.length < 512);
      const flags = [0, 1, 2].map((segment) => image.readUInt32LE(64 + segment * 56 + 4));
      assert.deepEqual(flags, [5, 6, 6]);
    });
  }
});
