import type { RouteCommon } from './route.js';

/** A file as it is shown. */
export interface PageFile {
  /** The whole Content-Type. */
  readonly type: string;
  readonly content: string | Buffer;
  /** The same, compressed beforehand, for browsers that say they take it. */
  readonly compressed?: { readonly br?: Buffer; readonly gzip?: Buffer };
}

export interface PageRequest {
  /** What the path has behind that of the route, decoded and without slashes at its ends; empty for the path itself. */
  readonly name: string;
  /** The Accept header. */
  readonly accept: string | undefined;
}

/**
 * A route of the kind `page` as data: files that are the same for everybody, with what browsers are told about them. No
 * credential is looked at, so whatever needs one comes over routes of another kind.
 */
export interface PageRoute extends Omit<RouteCommon, 'limitsOfRefused'> {
  readonly kind: 'page';
  readonly limitsOfRefused?: never;
  readonly permission: 'public';
  readonly admits: 'anyone';
  /** The Content-Security-Policy of every file. */
  readonly policy: string;
  /**
   * Whether browsers may keep a file for good, because its name has a hash of what it says; or keep it and ask whether it is
   * still the same (ETag, 304); or keep nothing.
   */
  readonly cache: 'for good' | 'revalidate' | 'never';
  /** Headers that follow from how the file is chosen, such as Vary. */
  readonly headers?: readonly string[];
  /** Undefined where there is no such file: 404. A file on disk is found by a list of names, never by joining paths. */
  readonly find: (request: PageRequest) => PageFile | undefined | Promise<PageFile | undefined>;
}

export function definePage(route: Omit<PageRoute, 'kind'>): PageRoute {
  return { ...route, kind: 'page' };
}
