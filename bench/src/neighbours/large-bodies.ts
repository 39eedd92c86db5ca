/** A request that is as heavy as its route allows. */
export interface LargeBody {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

function members(count: number, bytes: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'x'.repeat(bytes)]));
}

const EXPRESSIONS = Object.fromEntries(
  Array.from({ length: 2_000 }, (_, at) => [`m${at}`, `{{ data.a | append: "${at}" | upcase }}`]),
);
const JSON_1_MIB = members(9_900, 88);
const TOKENS_1_MIB = Array.from({ length: 100 }, () => ({ type: 'token', data: members(90, 90) }));

/** The heaviest bodies that the routes on token data take, for a tenant that has a token with this id. */
export function largeBodies(tokenId: string): readonly LargeBody[] {
  const post = (name: string, path: string, body: unknown): LargeBody => ({ name, method: 'POST', path, body });
  return [
    post('creates of 10,000 values in 1 MiB', '/tokens', { data: JSON_1_MIB }),
    post('creates of one text of 1 MiB', '/tokens', { data: 'x'.repeat(1_048_000) }),
    post('creates with a mask of 2,000 expressions', '/tokens', { data: { a: 'x' }, mask: EXPRESSIONS }),
    {
      name: 'changes of 10,000 values in 1 MiB',
      method: 'PATCH',
      path: `/tokens/${tokenId}`,
      body: { data: JSON_1_MIB },
    },
    post('searches with 10,000 other values', '/tokens/search', { query: 'id:a', other: Array(9_900).fill(1) }),
    post('tokenize of 100 tokens in 1 MiB', '/tokenize', TOKENS_1_MIB),
    post('detokenize of 99,000 elements', '/detokenize', Array(99_000).fill(1)),
    post('detokenize of 70,000 members in 1 MiB', '/detokenize', members(70_000, 0)),
    post('detokenize of 4,000 expressions', '/detokenize', Array(4_000).fill(`{{ ${tokenId} | append: "a" }}`)),
  ];
}

/** Bodies of 5 MiB, of routes that take them. They are refused behind their parsing: there is no such Reactor. */
export function hugeBodies(): readonly LargeBody[] {
  const react = (name: string, args: unknown): LargeBody => {
    return { name, method: 'POST', path: '/reactors/unknown/react', body: { args } };
  };
  return [
    react('react with 99,000 elements', Array(99_000).fill('x'.repeat(45))),
    react('react with 60,000 members', members(60_000, 60)),
    react('react with one text of 5 MiB', 'x'.repeat(5_200_000)),
  ];
}
