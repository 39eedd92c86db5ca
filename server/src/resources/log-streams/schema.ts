import type { Static } from 'typebox';
import Type from 'typebox';
import { ERROR_MESSAGE, named, text } from '../../http/routes/schema.js';
import { LogFilterParameters } from '../logs/index.js';

export const LogTailQuery = Type.Object({
  ...LogFilterParameters,
  after: Type.Optional(
    text({
      maxLength: 12_000,
      description: 'The id of an event: goes on behind it. The header Last-Event-ID counts first',
    }),
  ),
});

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;

export const LogExportQuery = Type.Object({
  ...LogFilterParameters,
  format: Type.Enum([...EXPORT_FORMATS], {
    description: 'Required',
    [ERROR_MESSAGE]: `must be one of ${EXPORT_FORMATS.join(', ')}`,
  }),
});

/** The data of the event `end`, after which the stream is over. */
export const TailEnd = named('PortalLogTailEnd', {
  reason: Type.Enum(['signed_out', 'no_access', 'too_slow', 'restart'], {
    description: 'Connect again after too_slow and restart; nothing is lost',
  }),
});

export type LogTailQuery = Static<typeof LogTailQuery>;
export type LogExportQuery = Static<typeof LogExportQuery>;
export type TailEnd = Static<typeof TailEnd>;
