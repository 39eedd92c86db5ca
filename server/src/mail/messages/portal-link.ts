import { assert } from '../../kernel/assert.js';
import { parseUrl } from '../../kernel/parse-url.js';
import type { Secret } from '../../kernel/secret.js';

const PATH_PATTERN = /^\/portal(\/[a-z0-9-]+)*$/;
const SECRET_PATTERN = /^[A-Za-z0-9_-]+$/;

/** A link to a page of the Portal. There is no other kind of link in a mail. Printing it shows nothing. */
export class PortalLink {
  readonly #href: string;

  /** The secret stands behind `#`, so it is in no log of a server. */
  constructor(portalUrl: string, path: string, secret?: Secret<string>) {
    const base = parseUrl(portalUrl);
    assert(base !== undefined && /^https?:$/.test(base.protocol), 'the Portal has a web address');
    assert(base.username === '' && base.search === '' && base.hash === '', 'the address of the Portal is a bare one');
    assert(PATH_PATTERN.test(path), 'a link leads to a page of the Portal');
    assert(secret === undefined || SECRET_PATTERN.test(secret.reveal()), 'the secret of a link is base 64 for URLs');
    const fragment = secret === undefined ? '' : `#${secret.reveal()}`;
    this.#href = `${base.origin}${base.pathname.replace(/\/$/, '')}${path}${fragment}`;
  }

  reveal(): string {
    return this.#href;
  }
}
