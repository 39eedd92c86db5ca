import type { Clock } from '../../kernel/clock.js';
import { youngCollector } from '../../kernel/young-memory.js';
import type { BodyWaits } from './body-waits.js';
import { createBodyWaits } from './body-waits.js';
import type { PassedBytes } from './passed-bytes.js';
import { createPassedBytes } from './passed-bytes.js';
import type { Pipelines } from './pipeline.js';
import { createPipelines } from './pipeline.js';
import type { Places } from './places.js';
import { createPlaces } from './places.js';
import type { Responder } from './respond.js';
import { createResponder } from './respond.js';
import type { StreamSlots } from './stream-slots.js';
import { createStreamSlots } from './stream-slots.js';
import type { UnsentAnswers } from './unsent-answers.js';
import { createUnsentAnswers } from './unsent-answers.js';
import type { OnAnswered } from './write-answer.js';

export interface LoadOptions {
  readonly clock: Clock;
  readonly inFlightMax: number;
  readonly onAnswered: OnAnswered;
}

/** Everything that is bounded: requests in work, bodies on their way, streams, and answers nobody has read. */
export interface Load {
  readonly places: Places;
  readonly unsent: UnsentAnswers;
  readonly pipelines: Pipelines;
  /** Whose answers give back what their requests had. */
  readonly respond: Responder;
  readonly bodies: BodyWaits;
  readonly streams: StreamSlots;
  readonly passed: PassedBytes;
}

const BODIES_PER_SLOT = 4;
const STREAMS_PER_SLOT = 4;

export function createLoad(options: LoadOptions, stopping: AbortSignal): Load {
  const places = createPlaces({ max: options.inFlightMax });
  // A request has its place until its answer has left: what a client does not read is memory too.
  const unsent = createUnsentAnswers({
    clock: options.clock,
    onOut: ({ context }) => {
      places.leave(context);
      const { held } = context;
      context.held = undefined;
      for (const release of held ?? []) release();
    },
    onAside: ({ context }) => places.leave(context),
  });
  const pipelines = createPipelines();
  const respond = createResponder({
    clock: options.clock,
    onAnswered(exchange, status) {
      options.onAnswered(exchange, status);
      pipelines.leave(exchange.request.socket);
    },
    onWritten: unsent.follow,
    isClosing: () => stopping.aborted,
  });
  // Waiting for a slow client is no work: its place is free for others meanwhile.
  const bodies = createBodyWaits({
    waitingMax: options.inFlightMax * BODIES_PER_SLOT,
    onWait: places.leave,
    onArrived: places.takeAgain,
  });
  const streams = createStreamSlots({ max: options.inFlightMax * STREAMS_PER_SLOT, onTake: places.leave });
  const passed = createPassedBytes(youngCollector());
  return { places, unsent, pipelines, respond, bodies, streams, passed };
}
