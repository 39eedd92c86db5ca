import type { Reference } from './compatibility-subject.js';

/** Code as it is written for the reference API: a client under the name of that API, and errors from a package of its name. */
export const REACTOR_CODE = `
const { BadRequestError } = require('@basis-theory/basis-theory-reactor-errors');
module.exports = async (req) => {
  const { args, configuration } = req;
  if (!args.card) throw new BadRequestError({ card: 'is missing' });
  const made = await req.bt.tokens.create({ type: 'token', data: 'from code' });
  return {
    raw: { lastFour: args.card.slice(-4), greeting: configuration.GREETING, made: made.id },
    tokenize: { type: 'token', data: args.card },
  };
};`;

/** Where there is no wall for code, the server says so, and everything but the run can be tried. */
export async function runsCode({ baseUrl }: Reference): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`);
  return !(await answer.text()).includes('unavailable');
}
