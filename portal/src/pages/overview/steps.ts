import type { PortalFirstStep } from '../../api/generated.js';

export type StepName = PortalFirstStep['step'];

export interface Step {
  readonly title: string;
  readonly why: string;
  /** Where it is done. */
  readonly page: {
    readonly text: string;
    readonly path: 'applications' | 'tokens' | 'members' | 'reactors' | 'account';
  };
  /** The same from a terminal, without its address. */
  readonly curl?: (origin: string) => string;
}

const KEY = '-H "SVC-API-KEY: $STRONGROOM_KEY"';
const JSON_BODY = '-H "Content-Type: application/json"';

const posted = (origin: string, path: string, body: unknown) =>
  `curl ${origin}${path} ${KEY} ${JSON_BODY} -d '${JSON.stringify(body)}'`;

/** What a new tenant does first. Lines for a terminal take the key of an Application that may do it. */
export const STEPS: Readonly<Record<StepName, Step>> = {
  create_application: {
    title: 'Create an Application',
    why: 'Your systems work with tokens by the key of an Application. Its permissions say what the key can do.',
    page: { text: 'Go to Applications', path: 'applications' },
    curl: (origin) =>
      posted(origin, '/applications', {
        name: 'Checkout',
        type: 'private',
        permissions: ['token:create', 'token:read'],
      }),
  },
  create_token: {
    title: 'Store the first value',
    why: 'Send a value with the key of a private Application, and keep the id that comes back in its place.',
    page: { text: 'Go to Tokens', path: 'tokens' },
    curl: (origin) =>
      posted(origin, '/tokens', {
        type: 'card',
        data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2040 },
      }),
  },
  read_token: {
    title: 'Read it',
    why: 'The answer is masked, and the log has an entry for it. Put the id of your token in place of {id}.',
    page: { text: 'Go to Tokens', path: 'tokens' },
    curl: (origin) => `curl "${origin}/tokens/{id}" ${KEY}`,
  },
  narrow_access: {
    title: 'Give an Application no more than it needs',
    why: 'Fewer permissions, or access rules on containers, keep a stolen key from reading everything.',
    page: { text: 'Go to Applications', path: 'applications' },
    curl: (origin) =>
      posted(origin, '/applications', {
        name: 'Payments',
        type: 'private',
        rules: [
          {
            description: 'Read cards',
            priority: 1,
            container: '/pci/',
            transform: 'reveal',
            permissions: ['token:read'],
          },
        ],
      }),
  },
  invite_member: {
    title: 'Invite a second person',
    why: 'So that somebody can act when you cannot, under a name of their own.',
    page: { text: 'Go to Members', path: 'members' },
    curl: (origin) =>
      posted(origin, '/tenants/self/invitations', { email: 'colleague@example.com', role: 'READ_ONLY' }),
  },
  add_second_factor: {
    title: 'Protect your own sign-in',
    why: 'A passkey or an authenticator stops whoever has your password.',
    page: { text: 'Go to your account', path: 'account' },
  },
  add_code: {
    title: 'Run code on values, or pass them on',
    why: 'A Reactor runs your code on values that your systems never hold. A Proxy puts them into requests to others.',
    page: { text: 'Go to Reactors', path: 'reactors' },
    curl: (origin) =>
      posted(origin, '/reactors', {
        name: 'Last four',
        code: 'module.exports = async ({ args }) => ({ raw: args.card.number.slice(-4) });',
      }),
  },
};
