/** How much of the heap and the stack a run may use; beyond that the process ends. */
const HEAP_MB = 192;
const STACK_KB = 900;

/**
 * The engine's configuration, in its own language. The loader has the way in, the texts for tenant code and the tool that starts
 * it in an isolate of its own; nothing has the network, not even by name. Without the just-in-time compiler code is
 * interpreted, and there is no WebAssembly.
 */
export function configurationText(packages: readonly string[], isJitless: boolean): string {
  const texts = packages.map((name) => `(name = "text/${name}", text = embed "${name}.cjs")`);
  const list = packages.map((name, at) => `import t${at} from "text/${name}";`).join('');
  const members = packages.map((name, at) => `${JSON.stringify(name)}:t${at}`).join(',');
  const flags = [`--max-old-space-size=${HEAP_MB}`, `--stack-size=${STACK_KB}`, ...(isJitless ? ['--jitless'] : [])];
  const modules = [
    '(name = "loader.js", esModule = embed "loader.js")',
    `(name = "package-texts", esModule = ${JSON.stringify(`${list}export default {${members}};`)})`,
    '(name = "tenant-main", text = embed "tenant-main.js")',
    '(name = "tenant-require", text = embed "tenant-require.js")',
    ...texts,
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "loader", worker = (
      modules = [
        ${modules.join(',\n        ')}
      ],
      compatibilityDate = "2026-10-01",
      bindings = [
        (name = "LOADER", workerLoader = ()),
        (name = "OUTSIDE", service = (name = "loader", entrypoint = "Outside")),
        (name = "API", service = (name = "loader", entrypoint = "Api"))
      ],
      globalOutbound = "nowhere"
    )),
    (name = "nowhere", network = (allow = [])),
    (name = "internet", network = (allow = []))
  ],
  sockets = [(name = "http", address = "unix:/nowhere", http = (), service = "loader")],
  v8Flags = ${JSON.stringify(flags)}
);
`;
}
