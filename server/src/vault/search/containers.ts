/** Whether a path is a container or one above it: `/pci/` covers `/pci/` and `/pci/high/`, and `/` covers all. */
export function coversContainer(path: string, container: string): boolean {
  return container.startsWith(path.endsWith('/') ? path : `${path}/`);
}
