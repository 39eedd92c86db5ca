/** A permission in two words: what it is about, and what may be done. */
export function partsOfPermission(name: string): { readonly resource: string; readonly action: string } {
  const at = name.lastIndexOf(':');
  return at < 0 ? { resource: '', action: name } : { resource: name.slice(0, at), action: name.slice(at + 1) };
}

/** By what they are about, in the order in which they come. */
export function groupedPermissions<Each>(
  all: readonly Each[],
  nameOf: (each: Each) => string,
): ReadonlyMap<string, readonly Each[]> {
  const groups = new Map<string, Each[]>();
  for (const each of all) {
    const { resource } = partsOfPermission(nameOf(each));
    groups.set(resource, [...(groups.get(resource) ?? []), each]);
  }
  return groups;
}

const RESOURCES: Readonly<Record<string, string>> = {
  token: 'Tokens',
  tenant: 'Tenant',
  application: 'Applications',
  log: 'Logs',
  reactor: 'Reactors',
  proxy: 'Proxies',
  'tenant:member': 'Members',
  'tenant:invitation': 'Invitations',
  report: 'Reports',
};

export function resourceText(resource: string): string {
  return RESOURCES[resource] ?? resource;
}

/** Permissions where there is little room: `Tokens: create, read`. */
export function shortPermissions(names: readonly string[]): readonly string[] {
  return [...groupedPermissions(names, (name) => name)].map(([resource, group]) => {
    const actions = group.map((name) => partsOfPermission(name).action);
    return `${resourceText(resource)}: ${actions.join(', ')}`;
  });
}
