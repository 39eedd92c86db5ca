import type { Answer } from './http-client.js';
import type { Names, Populated } from './isolation-pair.js';
import type { SliceTrial, WalkRequest } from './slice-trial.js';
import { loadTrials } from './slice-trial.js';
import type { TestApp } from './test-app.js';

export interface IsolationStep {
  readonly request: WalkRequest;
  readonly answer: Answer;
}

/** Tries everything the keys of A can be used for, with the names of somebody else wherever a name fits. */
export async function walkIsolation(app: TestApp, a: Populated, of: Names): Promise<IsolationStep[]> {
  const keys = { management: a.key, private: a.privateKey, public: a.publicKey, session: a.sessionKey };
  const steps: IsolationStep[] = [];
  for (const request of requestsOf(await loadTrials(), of)) {
    const { as, method, path, body } = request;
    const headers = { 'SVC-TENANT-ID': of.tenantId, ...request.headers };
    const answer = await app.call(method, path, { key: keys[as], headers, ...(body !== undefined && { body }) });
    steps.push({ request, answer });
  }
  return steps;
}

/** Reads of every slice first, then changes aimed at what is not the caller's, then what the other has already once more. */
function requestsOf(trials: readonly SliceTrial[], of: Names): WalkRequest[] {
  return (['reads', 'changes', 'doubles'] as const).flatMap((kind) =>
    trials.flatMap((trial) => trial[kind]?.(of) ?? []),
  );
}

/** Secrets an answer tells, besides those its own request named. */
export function leaksIn(steps: readonly IsolationStep[], secrets: readonly string[]): string[] {
  return steps.flatMap(({ request, answer }) => {
    const asked = JSON.stringify(request);
    const told = secrets.filter((secret) => answer.text.includes(secret) && !asked.includes(secret));
    return told.map((secret) => `${request.method} ${request.path} told ${secret}`);
  });
}

/** What an answer says, with the names of the request replaced by their kind: the same for whoever they belong to. */
export function sayings(steps: readonly IsolationStep[], of: Names): string[] {
  return steps.map(({ request, answer }) => {
    const { trace_id: _, ...told } = answer.status < 400 ? { trace_id: '' } : answer.json;
    let text = `${request.as} ${request.method} ${request.path} ${answer.status} ${JSON.stringify(told)}`;
    for (const [kind, name] of Object.entries(of)) text = text.replaceAll(name, kind);
    return text;
  });
}
