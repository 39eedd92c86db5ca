/** What `require` finds in tenant code besides modules of the engine, and where its text comes from. */
export interface PackageSource {
  /** The name code requires it under. */
  readonly name: string;
  /** A package, or a file of ours beside `dist/inside/loader.js`. */
  readonly entry: string;
  /** The module is its default export. */
  readonly isDefault?: true;
}

/** The module with the classes of errors. */
export const ERRORS_MODULE = 'strongroom-errors';

const PUBLISHED = ['form-data', 'qs', 'uuid', 'lodash', 'dayjs', 'jose', 'crypto-js', 'fast-xml-parser', 'yup'];

export const PACKAGE_SOURCES: readonly PackageSource[] = [
  { name: ERRORS_MODULE, entry: './errors.js' },
  { name: 'axios', entry: './axios.js', isDefault: true },
  { name: 'node-fetch', entry: './node-fetch.js', isDefault: true },
  ...PUBLISHED.map((name) => ({ name, entry: name })),
];
