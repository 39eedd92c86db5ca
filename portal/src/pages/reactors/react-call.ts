/** A call of a Reactor, as a command. */
export function reactCall(reactorId: string): string {
  return `curl ${location.origin}/reactors/${reactorId}/react -H "SVC-API-KEY: $KEY" \\
  -H 'Content-Type: application/json' -d '{"args":{"name":"Ada"}}'`;
}
