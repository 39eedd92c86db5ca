import type { Log, PortalLogTailEnd } from '../../api/generated.js';

export type TailState = 'connecting' | 'open' | 'reconnecting' | PortalLogTailEnd['reason'];

export interface TailStreamOptions {
  /** The address, going on behind an event where one is named. */
  readonly urlOf: (after: string | undefined) => string;
  /** Asks why the server may have refused, which a stream cannot tell. Undefined: it is worth trying again. */
  readonly refusal: () => Promise<'signed_out' | 'no_access' | undefined>;
  readonly onEntry: (entry: Log) => void;
  readonly onState: (state: TailState) => void;
  /** The server could not go on where it was left. */
  readonly onGap: () => void;
}

const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

/** The events of the log. After a lost connection it goes on behind the last one that it has seen. Returns what closes it. */
export function openTailStream({ urlOf, refusal, onEntry, onState, onGap }: TailStreamOptions): () => void {
  let source: EventSource | undefined;
  let lastId: string | undefined;
  let failures = 0;
  let retrying: ReturnType<typeof setTimeout> | undefined;

  const end = (reason: TailState) => {
    source?.close();
    onState(reason);
  };
  const retry = () => {
    end('reconnecting');
    retrying = setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
    failures += 1;
  };
  /** A stream that was refused says no more than that. What was only cut off is opened again by the browser. */
  const onError = async () => {
    const failed = source;
    if (failed?.readyState !== EventSource.CLOSED) return onState('reconnecting');
    await askWhy(failed);
  };
  const askWhy = async (ended: EventSource) => {
    const reason = await refusal();
    if (source !== ended) return;
    if (reason === undefined) retry();
    else end(reason);
  };
  const onOpen = () => {
    failures = 0;
    onState('open');
  };
  const connect = () => {
    source = new EventSource(urlOf(lastId));
    source.onerror = () => void onError();
    const on = listenTo(source, (id) => {
      lastId = id;
    });
    // The browser has an event of this name too, before the server follows the log.
    on('open', onOpen);
    on('gap', () => {
      onOpen();
      onGap();
    });
    on('message', (data) => onEntry(JSON.parse(data) as Log)); // As the document of the call says.
    on('end', (data) => {
      const { reason } = JSON.parse(data) as PortalLogTailEnd; // As the document of the call says.
      if (reason === 'too_slow' || reason === 'restart') retry();
      // Another tab may have got a new session meanwhile, by a fresh proof of who it is.
      else if (reason === 'signed_out' && source) void askWhy(source);
      else end(reason);
    });
  };
  connect();
  return () => {
    source?.close();
    source = undefined;
    clearTimeout(retrying);
  };
}

/** Every event of the server, and only those, says how far one has come. */
function listenTo(source: EventSource, onId: (id: string) => void) {
  return (name: string, act: (data: string) => void) =>
    source.addEventListener(name, (event) => {
      if (!(event instanceof MessageEvent)) return;
      if (event.lastEventId) onId(event.lastEventId);
      act(event.data);
    });
}
