/**
 * How a wall is made. `root` and `user`: namespaces, made by root or inside a user namespace, and behind them Landlock where
 * the kernel has it. `flat`: no namespaces, Landlock instead. All have the filter of system calls and the limits.
 */
export type WallMode = 'root' | 'user' | 'flat';

const CLONE = {
  mounts: 0x2_0000,
  cgroup: 0x200_0000,
  hostname: 0x400_0000,
  ipc: 0x800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const;
const SIGCHLD = 17;

/** The flags of the `clone` that makes a wall's namespaces. */
export function namespaceFlags(mode: 'root' | 'user'): number {
  const { mounts, cgroup, hostname, ipc, pid, network, user } = CLONE;
  return mounts + cgroup + hostname + ipc + pid + network + (mode === 'user' ? user : 0) + SIGCHLD;
}
