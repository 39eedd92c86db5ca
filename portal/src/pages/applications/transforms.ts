import type { AccessRule } from '../../api/generated.js';
import type { Tone } from '../../ui/badge.js';

export type Transform = AccessRule['transform'];

export interface TransformTexts {
  readonly text: string;
  readonly hint: string;
  readonly tone: Tone;
}

/** What a rule shows of a token. */
export const TRANSFORMS: Readonly<Record<Transform, TransformTexts>> = {
  reveal: { text: 'Plain data', hint: 'The data as it was stored.', tone: 'warn' },
  mask: { text: 'Masked', hint: 'The mask of the token, such as the last four digits.', tone: 'ok' },
  redact: { text: 'No data', hint: 'The token without its data. Expressions with it are refused.', tone: 'plain' },
};

export const TRANSFORM_NAMES: readonly Transform[] = ['reveal', 'mask', 'redact'];
