import { authorize } from '../../access/authorize.js';
import type { ReceivedBody } from '../transport/body.js';
import { BODY_BYTES_MAX, BODY_VALUES_MAX, readBody } from '../transport/body.js';
import { shareFor } from '../transport/body-share.js';
import type { Exchange } from '../transport/respond.js';
import type { Identify } from './identify.js';
import { admitToPortal } from './portal-door.js';
import type { RouteRecord } from './route.js';
import type { RunnerOptions } from './runner.js';

/** Rights may be so old when a body has arrived. Of most requests it is there at once, and nothing is asked again. */
const RIGHTS_FRESH_MS = 100;

/** Resolves with the body once it is there, and the caller may still send it. */
export type ReceiveBody = (exchange: Exchange) => Promise<ReceivedBody>;

/** A body can take half a minute to come. What was taken from the caller meanwhile it does not have any more. */
export function createReceiveBody(
  route: RouteRecord,
  options: Pick<RunnerOptions, 'bodies' | 'largeWork' | 'clock' | 'portal'>,
  identify: Identify,
): ReceiveBody {
  const { bodies, largeWork, clock } = options;
  const bounds = { bytesMax: route.bodyBytesMax ?? BODY_BYTES_MAX, valuesMax: route.bodyValuesMax ?? BODY_VALUES_MAX };

  async function receive(exchange: Exchange): Promise<ReceivedBody> {
    const { request, context } = exchange;
    let held = 0;
    const count = (bytes: number): void => {
      bodies.hold(context, bytes);
      held += bytes;
    };
    try {
      const read = await bodies.during(context, () => readBody(exchange, bounds, count));
      const share = shareFor(largeWork.bytes, context.principal?.tenantId ?? '', request.method, read);
      if (share) context.held = [await share];
      return read;
    } finally {
      bodies.release(context, held);
    }
  }

  return async (exchange) => {
    const { context } = exchange;
    const askedMs = clock.monotonicMs();
    const read = await receive(exchange);
    const isLate = clock.monotonicMs() - askedMs > RIGHTS_FRESH_MS;
    if (isLate && context.principal !== undefined) {
      context.principal = await identify(exchange);
      authorize(context.principal, route);
    }
    if (isLate && route.portal !== undefined) context.visit = await admitToPortal(options, route.portal, exchange);
    return read;
  };
}
