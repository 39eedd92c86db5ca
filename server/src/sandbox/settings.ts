import type { SettingKind, Settings } from '../kernel/setting.js';
import { integerBetween, listOf, oneOf } from '../kernel/setting.js';
import { parseAliases } from './aliases.js';

const ALIASES: SettingKind<Readonly<Record<string, string>>> = {
  values: '`name=module` pairs with commas between them',
  parse: (text) => parseAliases(listOf(text)),
};

export const SANDBOX_SETTINGS = {
  reactors: {
    name: 'STRONGROOM_REACTORS',
    kind: oneOf(['on', 'off']),
    default: 'on',
    about: '`off` runs no code of tenants: invocations of Reactors are 503 `reactors_unavailable`',
  },
  reactorInstancesMax: {
    name: 'STRONGROOM_REACTOR_INSTANCES_MAX',
    kind: integerBetween(1, 1_000),
    default: '32',
    about:
      'Processes with code of tenants at once, for one process of the service; each takes about 20 MB and more by its code',
  },
  reactorInstancesPerTenantMax: {
    name: 'STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX',
    kind: integerBetween(1, 1_000),
    default: '8',
    about: 'The same for one tenant; further calls wait for 10 s',
  },
  reactorBlanks: {
    name: 'STRONGROOM_REACTOR_BLANKS',
    kind: integerBetween(0, 64),
    default: '2',
    about: 'Processes started ahead, without code, so that a first call does not wait for a start',
  },
  reactorJit: {
    name: 'STRONGROOM_REACTOR_JIT',
    kind: oneOf(['on', 'off']),
    default: 'on',
    about:
      '`off` has code of tenants interpreted: no compiler that attacks could aim at and less memory, but it runs several times slower and there is no WebAssembly',
  },
  reactorModules: {
    name: 'STRONGROOM_REACTOR_MODULES',
    kind: ALIASES,
    default: '',
    about:
      'Further names for modules that code can require, such as `@acme/errors=strongroom-errors`; see [Reactors](reactors.md#modules)',
  },
} satisfies Settings;
