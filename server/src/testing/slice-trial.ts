import assert from 'node:assert/strict';
import { SLICES } from '../resources.js';
import type { Names, Populated } from './isolation-pair.js';
import type { TestApp, TestTenant } from './test-app.js';

/** Things of a tenant to try routes on; a slice adds its own. */
export interface Targets {
  readonly applicationId: string;
  readonly keyId: string;
  readonly tokenId: string;
  readonly nonce: string;
  readonly sessionId: string;
  readonly templateId: string;
  readonly [further: string]: string;
}

/** A route, written out again: the product's own record must not be its own judge. */
export interface TriedRoute {
  readonly method: string;
  readonly path: string;
  /** A permission, or which kind of key will do. */
  readonly needs: string;
  readonly status: number;
  /** What those get who may ask and whose it is not; all who are tried are such. */
  readonly toOthers?: number;
  /** What those get who may ask and lack the rights that they would give. */
  readonly toFew?: number;
  /** Values of the path's parameters. */
  readonly params?: (targets: Targets) => Readonly<Record<string, string>>;
  readonly body?: (targets: Targets) => unknown;
  /** What it is tried on is there afterwards as before, so that the next may try it too. */
  readonly leavesTarget?: true;
  /** Ends the tenant, and with it what other routes are tried on. */
  readonly endsTenant?: true;
}

/** A request its route answers with success. */
export interface Success {
  readonly path: string;
  readonly body?: unknown;
  /** The tenant's management key without it. */
  readonly key?: string;
}

/** A request of one tenant that names what is another's wherever a name fits. */
export interface WalkRequest {
  readonly as: 'management' | 'private' | 'public' | 'session';
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the tests that look at every resource need to know of one; its `trial-fixture.ts` exports it. */
export interface SliceTrial {
  readonly routes: readonly TriedRoute[];
  /** How each route that takes an idempotency key is brought to succeed, by method and path. */
  readonly successes: Readonly<Record<string, (app: TestApp, tenant: TestTenant) => Success | Promise<Success>>>;
  /** Makes one of each kind that routes are tried on, in a tenant with a management key. */
  readonly makeTargets?: (app: TestApp, tenant: TestTenant) => Promise<Readonly<Record<string, string>>>;
  /** Makes rows in its tables for the isolation walk, and tells their names; the same names of nobody without a tenant. */
  readonly populate?: (
    app: TestApp,
    tenant?: Omit<Populated, 'names'>,
    label?: string,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Statements that put `$2` or fewer rows of tenant `$1` into its tables, for the purge. */
  readonly fill?: readonly string[];
  readonly reads?: (of: Names) => readonly WalkRequest[];
  readonly changes?: (of: Names) => readonly WalkRequest[];
  /** Requests for what the other tenant has already: they come after all changes. */
  readonly doubles?: (of: Names) => readonly WalkRequest[];
  /** Statements that the walk must have met without their condition: about the others a run proves nothing. */
  readonly widened?: readonly string[];
  /** Routes on which nothing of another tenant can be named, or whose answer alone does not tell. */
  readonly tellsNothing?: readonly string[];
}

/** The trial of every slice, in the order of the slices. */
export async function loadTrials(): Promise<SliceTrial[]> {
  return Promise.all(
    SLICES.map(async ({ name }) => {
      const loaded: { readonly trial?: SliceTrial } = await import(`../resources/${name}/trial-fixture.js`);
      assert.ok(loaded.trial, `resources/${name}/trial-fixture.ts exports a trial`);
      return loaded.trial;
    }),
  );
}
