import { existsSync } from 'node:fs';

/** Folder of the server's package.json. A compiled file and the bundle of all of them lie at different depths below it. */
export const PACKAGE_FOLDER = findPackageFolder(new URL('.', import.meta.url));

function findPackageFolder(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : findPackageFolder(new URL('..', folder));
}
