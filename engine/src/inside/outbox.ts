import { fromFrame, toFrame } from './frame.js';

/** Requests of tenant code under way at a time, and what their bodies may take together. */
const OPEN_MAX = 64;
const BODY_BYTES_MAX = 10 * 1024 * 1024;
const HELD_BYTES_MAX = 32 * 1024 * 1024;
/** Longer than the host takes for any of them. */
const ANSWER_MS = 35_000;
const POLL_MS = 20_000;
/** Statuses that the web's Response takes no body with. */
const BODILESS = new Set([101, 204, 205, 304]);

/** The engine's own timer, which keeps a request alive while it waits. */
const wait = (ms: number): Promise<void> => (scheduler as unknown as { wait: typeof wait }).wait(ms);

/** Who is meant to answer: a server outside, or Strongroom itself. */
export type Destination = 'outside' | 'api';

interface Answered {
  readonly head: { readonly status: number; readonly headers: [string, string][]; readonly failure?: string };
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * The way out. There is no socket here: requests of tenant code wait until the host fetches them, and its answers come back by
 * number. Every wait has an end, because the engine ends requests that wait for nothing.
 */
export class Outbox {
  #count = 0;
  #heldBytes = 0;
  readonly #waiting: Uint8Array<ArrayBuffer>[] = [];
  readonly #pollers: ((frame: Uint8Array<ArrayBuffer>) => void)[] = [];
  readonly #open = new Map<number, (answer: Answered) => void>();

  /** As tenant code sees it: an answer, or an error like the one of a fetch that failed. */
  async send(to: Destination, request: Request): Promise<Response> {
    if (this.#open.size >= OPEN_MAX) return refusal(429, 'too many requests at once');
    this.#count += 1;
    const id = this.#count;
    const answered = new Promise<Answered>((resolve) => this.#open.set(id, resolve));
    let bytes = 0;
    try {
      const body = request.body === null ? new Uint8Array() : new Uint8Array(await request.arrayBuffer());
      bytes = body.length;
      this.#heldBytes += bytes;
      if (bytes > BODY_BYTES_MAX || this.#heldBytes > HELD_BYTES_MAX) return refusal(413, 'the request is too large');
      const { method, url } = request;
      this.#offer(toFrame({ id, to, method, url, headers: [...request.headers] }, body));
      const answer = await Promise.race([answered, wait(ANSWER_MS)]);
      if (!answer) return refusal(504, 'no answer in time');
      const { status, headers, failure } = answer.head;
      if (failure !== undefined) throw new TypeError(`fetch failed: ${failure}`);
      return new Response(BODILESS.has(status) || method === 'HEAD' ? null : answer.body, { status, headers });
    } finally {
      this.#heldBytes -= bytes;
      this.#open.delete(id);
    }
  }

  /** For the host: the next request, or undefined when there is none for a while. */
  async take(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const frame = this.#waiting.shift();
    if (frame) return frame;
    let poll = (_frame: Uint8Array<ArrayBuffer>): void => {};
    const offered = new Promise<Uint8Array<ArrayBuffer>>((resolve) => {
      poll = resolve;
      this.#pollers.push(poll);
    });
    const taken = await Promise.race([offered, wait(POLL_MS)]);
    const at = this.#pollers.indexOf(poll);
    if (at !== -1) this.#pollers.splice(at, 1);
    return taken ?? undefined;
  }

  /** From the host: the answer to one of them. */
  answer(id: number, frame: ArrayBuffer): void {
    this.#open.get(id)?.(fromFrame(frame) as Answered);
  }

  #offer(frame: Uint8Array<ArrayBuffer>): void {
    const poll = this.#pollers.shift();
    if (poll) poll(frame);
    else this.#waiting.push(frame);
  }
}

function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
