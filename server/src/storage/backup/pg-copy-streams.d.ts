/** What we use of a package that has no types of its own. */
declare module 'pg-copy-streams' {
  import type { Readable, Writable } from 'node:stream';
  import type { Submittable } from 'pg';

  interface Counted {
    /** As the server tells it at the end. */
    readonly rowCount: number;
  }

  export function to(text: string): Readable & Submittable & Counted;
  export function from(text: string): Writable & Submittable & Counted;
}
