import type { Arch } from '@strongroom/engine/launcher.js';

/** Numbers of the system calls that a wall is made of, for x64 and arm64. */
const NUMBERS = {
  read: [0, 63],
  write: [1, 64],
  close: [3, 57],
  openat: [257, 56],
  dup3: [292, 24],
  close_range: [436, 436],
  socket: [41, 198],
  bind: [49, 200],
  listen: [50, 201],
  umask: [95, 166],
  chdir: [80, 49],
  mkdirat: [258, 34],
  clone: [56, 220],
  wait4: [61, 260],
  execve: [59, 221],
  exit_group: [231, 94],
  sethostname: [170, 161],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  mount_setattr: [442, 442],
  setgroups: [116, 159],
  setresgid: [119, 149],
  setresuid: [117, 147],
  capset: [126, 91],
  prctl: [157, 167],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  seccomp: [317, 277],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const;

/** By its name, or for one that no wall is made of by its numbers for x64 and arm64. */
export type SystemCall = keyof typeof NUMBERS | readonly [number, number];

export function numberOf(call: SystemCall, arch: Arch): number {
  const numbers = typeof call === 'string' ? NUMBERS[call] : call;
  return numbers[arch === 'x64' ? 0 : 1];
}
