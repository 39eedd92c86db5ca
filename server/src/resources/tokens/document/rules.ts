/** What is checked of any JSON while it is read. */
const ON_JSON = {
  numbers: 'Numbers have no more digits than a double keeps; send others as text.',
  nesting: 'JSON is nested at most 64 levels deep.',
};

/** What is checked of a token and no schema can say. The document states each in these words. */
const ON_TOKENS = {
  ...ON_JSON,
  check_digits: 'The numbers of cards (Luhn) and the routing numbers of banks (ABA) end in a right check digit.',
  expressions: 'Expressions parse, and give a value over this `data`; an index gives one that is not empty.',
  dates: '`expires_at` is a complete date of the calendar, in the future.',
  text: '`id`, and names and values of `metadata`, hold neither U+0000 nor half of a surrogate pair.',
  metadata_nulls: 'Entries of `metadata` that are null are not counted, and their names are not looked at.',
};

export const NEW_TOKEN_RULES = {
  ...ON_TOKENS,
  ids: 'An `id` is not taken and does not hold the number of the card, the account or the person.',
};

export const TOKEN_PATCH_RULES = {
  ...ON_TOKENS,
  merged:
    'The token that comes of the change is one that could be created: its `data` fits its type. `type` is that of the token.',
};

export const TOKENIZE_RULES = {
  ...NEW_TOKEN_RULES,
  count: 'At most 100 tokens, unless the operator allows another number.',
};

export const DETOKENIZE_RULES = {
  nesting: ON_JSON.nesting,
  expressions: 'Expressions parse, give a value and name tokens that there are.',
  count: 'At most 100 tokens, unless the operator allows another number.',
};

export const SEARCH_RULES = {
  query: 'The query parses: fields, texts in quotes, AND, OR, NOT and brackets.',
};
