import { join } from 'node:path';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { Secret } from '../kernel/secret.js';
import { RootKeyFormatError } from './root-key.js';
import { createRootKeyFile, type RootKeyFile, readRootKeyFile } from './root-key-file.js';
import { idsOf, parseRootKeyRing, type RootKeyRing } from './root-key-ring.js';

const VALUE_SETTING = 'STRONGROOM_ROOT_KEY';
const FILE_SETTING = 'STRONGROOM_ROOT_KEY_FILE';
const LOCAL_FILE_NAME = 'root.key';
const HOW_TO_MAKE = `make one with "strongroom root-key generate", put it in a file and name that file in ${FILE_SETTING}`;
const HOW_TO_MOVE = `move it to a place of its own and name it in ${FILE_SETTING}`;

export interface RootKeySource {
  readonly value?: Secret<string> | undefined;
  readonly file?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly isProduction: boolean;
  readonly databaseHoldsData: boolean;
  /** The key id in the database's check row, where it has one. */
  readonly sealedById?: string | undefined;
}

export interface LoadedRootKey {
  readonly ring: RootKeyRing;
  /** The file it came from; undefined for a key by value, which only another start can change. */
  readonly file: string | undefined;
  /** For the operator, at every start until the cause is removed. */
  readonly warnings: readonly string[];
  readonly createdFile?: string;
}

/** Decides where the root key comes from. Fails closed: a new key is only ever made for an empty database. */
export async function loadRootKey(source: RootKeySource): Promise<LoadedRootKey> {
  const { value, file, isProduction } = source;
  if (value !== undefined && file !== undefined) {
    throw fault(`Both ${VALUE_SETTING} and ${FILE_SETTING} are set. Keep one of them.`);
  }
  const loaded =
    value !== undefined
      ? { ring: parseValue(value), file: undefined, warnings: [] }
      : file !== undefined
        ? await loadGivenFile(file, isProduction)
        : await loadLocalFile(source);
  return { ...loaded, warnings: [...loaded.warnings, ...spareWarnings(loaded.ring, source.sealedById)] };
}

/** A spare key opens what it should no longer open, so it is named at every start until it is gone. */
function spareWarnings(ring: RootKeyRing, sealedById: string | undefined): string[] {
  const [first, ...spares] = ring;
  if (spares.length === 0) return [];
  if (sealedById !== undefined && sealedById !== first.id) {
    return [
      `New keys are wrapped by root key ${first.id}, but the database is still sealed by ${sealedById}. ` +
        'Run "strongroom keys rotate-root" to wrap everything anew.',
    ];
  }
  return [
    `Root key ${idsOf(spares).join(' and ')} is configured beside ${first.id}, to open what it wrapped. ` +
      'Run "strongroom keys rotate-root" until it says that all is done, then remove the spare key.',
  ];
}

function parseValue(value: Secret<string>): RootKeyRing {
  try {
    return parseRootKeyRing(value.reveal());
  } catch (error) {
    if (!(error instanceof RootKeyFormatError)) throw error;
    throw fault(`${VALUE_SETTING} is not a root key: ${error.message} Copy it again from where you keep it.`, error);
  }
}

async function loadGivenFile(path: string, isProduction: boolean): Promise<LoadedRootKey> {
  const found = await readRootKeyFile(path);
  if (found === undefined) {
    throw fault(`${FILE_SETTING} names ${path}, which does not exist. Put the root key there, or correct the setting.`);
  }
  if (found.isOpenToOthers && isProduction) throw fault(openToOthers(path));
  return { ring: found.ring, file: path, warnings: found.isOpenToOthers ? [openToOthers(path)] : [] };
}

async function loadLocalFile(source: RootKeySource): Promise<LoadedRootKey> {
  const path = source.dataDir === undefined ? undefined : join(source.dataDir, LOCAL_FILE_NAME);
  const existing = path === undefined ? undefined : await readRootKeyFile(path);
  if (path !== undefined && existing !== undefined) {
    if (source.isProduction) throw fault(`${besideTheData(path)} In production ${HOW_TO_MOVE}.`);
    return { ring: existing.ring, file: path, warnings: localWarnings(path, existing) };
  }
  if (path === undefined || source.databaseHoldsData || source.isProduction) throw noRootKey(source);
  const isOurs = await createRootKeyFile(path);
  // Read back rather than remembered: when two processes start at once, both must hold the key that is on disk.
  const created = await readRootKeyFile(path);
  if (created === undefined) throw fault(`${path} is a link that leads nowhere. Mend its target, or remove the link.`);
  const warnings = localWarnings(path, created);
  return { ring: created.ring, file: path, warnings, ...(isOurs && { createdFile: path }) };
}

function noRootKey({ databaseHoldsData, sealedById }: RootKeySource): ExitError {
  if (!databaseHoldsData) return fault(`No root key is given: ${HOW_TO_MAKE}.`);
  const sealedBy = sealedById === undefined ? 'a root key' : `root key ${sealedById}`;
  return fault(
    `The database was sealed by ${sealedBy}, and no root key is given. No new key is generated, because it would make ` +
      `the data unreadable. Name the file that holds the key in ${FILE_SETTING}.`,
  );
}

function localWarnings(path: string, { isOpenToOthers }: RootKeyFile): string[] {
  const advice = `Keep a copy elsewhere, without it the data is lost; before production ${HOW_TO_MOVE}.`;
  const warning = `${besideTheData(path)} ${advice}`;
  return isOpenToOthers ? [warning, openToOthers(path)] : [warning];
}

function besideTheData(path: string): string {
  return `The root key lies in ${path}, beside the data it protects: whoever copies that folder can read everything.`;
}

function openToOthers(path: string): string {
  return `The root key file ${path} is open to other users. Run "chmod 600 ${path}".`;
}

function fault(message: string, cause?: unknown): ExitError {
  return new ExitError(EXIT.configuration, message, cause);
}
