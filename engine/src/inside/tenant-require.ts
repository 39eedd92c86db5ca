/** What `require` gives tenant code: the modules we name, and no others. */

type Require = (this: unknown, name: string) => unknown;

/** The loader puts the names in place of this text. */
const names = JSON.parse(JSON.stringify('NAMES')) as unknown as {
  readonly known: readonly string[];
  readonly aliases: Readonly<Record<string, string>>;
};
const known = new Set(names.known);
/** On an error that says a module is not there, so that it can be told from others. */
const MISSING = Symbol.for('strongroom.missing-module');

export function requireWith(real: Require, scope: unknown): (name: string) => unknown {
  return (name) => {
    const plain = String(name).replace(/^node:/, '');
    const wanted = Object.hasOwn(names.aliases, plain) ? (names.aliases[plain] ?? plain) : plain;
    if (!known.has(wanted)) {
      const error = new Error(`Cannot find module '${name}'`);
      throw Object.assign(error, { code: 'MODULE_NOT_FOUND', [MISSING]: true });
    }
    const module = real.call(scope, wanted);
    if (wanted === 'crypto') likeNode(module as Crypto);
    return module;
  };
}

interface Cipher {
  update(data: unknown, inputEncoding?: string, outputEncoding?: string): unknown;
}
interface Crypto {
  readonly Cipheriv?: { readonly prototype: Cipher };
  readonly Decipheriv?: { readonly prototype: Cipher };
}

let isLikeNode = false;

/** Node takes a text without an encoding for UTF-8; the engine refuses it. */
function likeNode({ Cipheriv, Decipheriv }: Crypto): void {
  if (isLikeNode) return;
  isLikeNode = true;
  for (const kind of [Cipheriv, Decipheriv]) {
    if (!kind) continue;
    const { update } = kind.prototype;
    kind.prototype.update = function (this: Cipher, data, inputEncoding, outputEncoding) {
      const encoding = typeof data === 'string' ? (inputEncoding ?? 'utf8') : inputEncoding;
      return update.call(this, data, encoding, outputEncoding);
    };
  }
}
