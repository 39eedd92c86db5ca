import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import type { Browser } from '../portal/portal-fixture.js';

export interface ReadEvent {
  readonly event: string;
  readonly id: string;
  /** Parsed; undefined where there was none. */
  readonly data: { readonly [field: string]: string } | undefined;
}

/** A stream as a page of the Portal reads it. */
export interface OpenStream {
  readonly response: IncomingMessage;
  text(): string;
  events(): ReadEvent[];
  /** Entries alone, by their entity. */
  entities(): (string | undefined)[];
  /** As a browser remembers it: the last id of all. */
  lastId(): string;
  readonly isOver: () => boolean;
  until(what: string, isSo: (stream: OpenStream) => boolean): Promise<void>;
  close(): void;
}

/** Opens a stream with the cookie of a browser. Resolves with its head. */
export function openStreamAs(
  app: Pick<TestApp, 'baseUrl'>,
  browser: Pick<Browser, 'cookie'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const cookie = browser.cookie === '' ? {} : { Cookie: browser.cookie };
    const asked = request(`${app.baseUrl}${path}`, { headers: { ...cookie, ...headers }, agent: false });
    asked.once('error', reject);
    asked.once('response', (response) => {
      asked.on('error', () => {});
      resolve(streamOf(response, () => asked.destroy()));
    });
    asked.end();
  });
}

function streamOf(response: IncomingMessage, close: () => void): OpenStream {
  let text = '';
  let isOver = false;
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    text += piece;
  });
  response.on('error', () => {});
  response.once('close', () => {
    isOver = true;
  });
  const stream: OpenStream = {
    response,
    text: () => text,
    events: () => eventsIn(text),
    entities: () => eventsIn(text).flatMap(({ event, data }) => (event === '' && data ? [data.entity_id] : [])),
    lastId: () => eventsIn(text).findLast(({ id }) => id !== '')?.id ?? '',
    isOver: () => isOver,
    until: (what, isSo) =>
      eventually(
        () => `${what}\n${text}`,
        () => isSo(stream),
      ),
    close,
  };
  return stream;
}

function eventsIn(text: string): ReadEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.map((block) => {
    const lines = block.split('\n');
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field('data');
    return {
      event: field('event') ?? '',
      id: field('id') ?? '',
      data: data === undefined ? undefined : JSON.parse(data),
    };
  });
}
