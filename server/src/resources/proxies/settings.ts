import type { Settings } from '../../kernel/setting.js';
import { integerBetween } from '../../kernel/setting.js';

const GIB = 1024 ** 3;

export const PROXY_SETTINGS = {
  proxyBodyBytesMax: {
    name: 'STRONGROOM_PROXY_BODY_BYTES_MAX',
    kind: integerBetween(1_024, 10 * GIB),
    default: '5242880',
    about:
      'Bytes in the body of a request through a Proxy that goes on in pieces; one that can hold expressions, or that code is given, has at most 5 MiB either way',
  },
} satisfies Settings;
