import type { Reactor, ReactorInput, ReactorPatch } from '../../api/generated.js';
import type { ConfigurationEntry } from '../definitions/configuration-entries.js';
import { configurationOf, configurationPatch, entriesOf } from '../definitions/configuration-entries.js';

/** What can be edited of a Reactor. */
export interface ReactorContent {
  readonly name: string;
  readonly code: string;
  /** Empty for none. */
  readonly applicationId: string;
  readonly entries: readonly ConfigurationEntry[];
}

export const FIRST_CODE = `// What it returns as raw is the answer. What it returns as tokenize comes back as tokens.
module.exports = async function (req) {
  const { args, configuration } = req;
  console.log('called with', args);
  return { raw: { hello: args.name } };
};
`;

export const NEW_REACTOR: ReactorContent = { name: '', code: FIRST_CODE, applicationId: '', entries: [] };

export function reactorContent({ name, code, application, configuration }: Reactor): ReactorContent {
  return { name, code, applicationId: application?.id ?? '', entries: entriesOf(configuration) };
}

export function reactorInput({ name, code, applicationId, entries }: ReactorContent): ReactorInput {
  return {
    name,
    code,
    configuration: configurationOf(entries),
    ...(applicationId !== '' && { application: { id: applicationId } }),
  };
}

/** Only what was changed, so that what somebody else changed meanwhile stays. */
export function reactorPatch(stored: Reactor, content: ReactorContent): ReactorPatch {
  const { name, code, applicationId, entries } = content;
  const configuration = configurationPatch(stored.configuration, entries);
  return {
    ...(name !== stored.name && { name }),
    ...(code !== stored.code && { code }),
    ...(applicationId !== (stored.application?.id ?? '') && {
      application: applicationId === '' ? null : { id: applicationId },
    }),
    ...(configuration && { configuration }),
  };
}

/** The fields whose faults are shown beside them. */
export function reactorFields({ entries }: ReactorContent): readonly string[] {
  return [
    'name',
    'code',
    'application',
    'application.id',
    'configuration',
    ...entries.map(({ name }) => `configuration.${name}`),
  ];
}
