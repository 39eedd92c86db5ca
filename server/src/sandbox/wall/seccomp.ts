import type { Arch } from '@strongroom/engine/launcher.js';
import type { EncodedFilter, Instruction } from './bpf.js';
import { encodeFilter, IF_ANY_BIT, IF_AT_LEAST, IF_EQUAL, LOAD, RETURN } from './bpf.js';

/** System calls the engine may make as it likes: their numbers for x64 and arm64; -1 where there is none. */
const ALLOWED: Readonly<Record<string, readonly [number, number]>> = {
  ...{ read: [0, 63], write: [1, 64], readv: [19, 65], writev: [20, 66], pread64: [17, 67], pwrite64: [18, 68] },
  ...{ close: [3, 57], lseek: [8, 62], dup: [32, 23], pipe2: [293, 59] },
  ...{ openat: [257, 56], open: [2, -1], getcwd: [79, 17], getdents64: [217, 61] },
  ...{ stat: [4, -1], lstat: [6, -1], fstat: [5, 80], newfstatat: [262, 79], statx: [332, 291] },
  ...{ access: [21, -1], faccessat: [269, 48], faccessat2: [439, 439], readlink: [89, -1], readlinkat: [267, 78] },
  ...{ munmap: [11, 215], mprotect: [10, 226], mremap: [25, 216], madvise: [28, 233], brk: [12, 214] },
  ...{ mincore: [27, 232], membarrier: [324, 283] },
  ...{ pkey_mprotect: [329, 288], pkey_alloc: [330, 289], pkey_free: [331, 290] },
  ...{ futex: [202, 98], set_robust_list: [273, 99], rseq: [334, 293] },
  ...{ set_tid_address: [218, 96], gettid: [186, 178], getpid: [39, 172] },
  ...{ getuid: [102, 174], geteuid: [107, 175], getgid: [104, 176], getegid: [108, 177] },
  ...{ uname: [63, 160], sysinfo: [99, 179], getrusage: [98, 165], getrandom: [318, 278] },
  ...{ sched_yield: [24, 124], gettimeofday: [96, 169], time: [201, -1] },
  ...{ clock_gettime: [228, 113], clock_getres: [229, 114], clock_nanosleep: [230, 115], nanosleep: [35, 101] },
  ...{ rt_sigaction: [13, 134], rt_sigprocmask: [14, 135], rt_sigreturn: [15, 139], sigaltstack: [131, 132] },
  ...{ restart_syscall: [219, 128], signalfd4: [289, 74], eventfd2: [290, 19] },
  ...{ timerfd_create: [283, 85], timerfd_settime: [286, 86], poll: [7, -1], ppoll: [271, 73] },
  ...{ epoll_create1: [291, 20], epoll_ctl: [233, 21], epoll_wait: [232, -1], epoll_pwait: [281, 22] },
  ...{ epoll_pwait2: [441, 441], accept4: [288, 242], shutdown: [48, 210] },
  ...{ sendto: [44, 206], recvfrom: [45, 207], sendmsg: [46, 211], recvmsg: [47, 212] },
  ...{ getsockopt: [55, 209], getsockname: [51, 204], getpeername: [52, 205] },
  ...{ exit: [60, 93], exit_group: [231, 94], execve: [59, 221] },
};

/** Those that are looked at more closely. */
const JUDGED = {
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  clone3: [435, 435],
  prctl: [157, 167],
  kill: [62, 129],
  tgkill: [234, 131],
  prlimit64: [302, 261],
  mmap: [9, 222],
  fcntl: [72, 25],
  ioctl: [16, 29],
  setsockopt: [54, 208],
  arch_prctl: [158, -1],
  sched_getaffinity: [204, 123],
} as const;

const ARCHITECTURE: Readonly<Record<Arch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const X32_FIRST = 0x4000_0000;

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;
const EPERM = 1;
const EINVAL = 22;
const ENOTTY = 25;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
/** A bit of the types of socket that send single messages, and of none that sends a stream. */
const MESSAGES = 2;
const CLONE_THREAD = 0x0001_0000;
/** Every flag that makes a namespace; the lowest is that of time. */
const CLONE_NEW = 0x7e02_0080;
const MAP_SHARED = 1;
const MAP_GROWS_DOWN = 0x100;
const ARCH_SET_FS = 0x1002;
/** F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: copies of descriptors, and how they are read. */
const DESCRIPTORS = [0, 1, 2, 3, 4, 1030];
/** FIONREAD, FIONBIO, FIOCLEX: the same by another call. */
const STREAMS = [0x541b, 0x5421, 0x5451];
/** PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names of threads and of memory. */
const NAMING = [15, 16, 0x5356_4d41];

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const answer = (verdict: number): Instruction => [RETURN, 0, 0, verdict];
/** The lower half of an argument; where the upper half counts, that has to be looked at too. */
const argument = (index: number, half: 0 | 1 = 0): Instruction => load(16 + index * 8 + half * 4);
const NUMBER = load(0);
const CALLER_ARCHITECTURE = load(4);

/**
 * What the kernel lets the engine's process ask of it: what is named, and of some calls only harmless forms. Anything else does
 * not exist, as on an older kernel; a call by another architecture's numbers ends the process.
 */
export function engineFilter(arch: Arch): EncodedFilter {
  const column = arch === 'x64' ? 0 : 1;
  const judged = Object.entries(VERDICTS).map(([call, body]) => {
    const number: number = JUDGED[call as keyof typeof JUDGED][column];
    return number < 0 ? [] : onlyFor(number, body);
  });
  const numbers = Object.values(ALLOWED).map((both) => both[column] ?? -1);
  const allowed = numbers.filter((number) => number >= 0).map((number) => onlyFor(number, [answer(ALLOW)]));
  const x32: Instruction[] = arch === 'x64' ? [[IF_AT_LEAST, 0, 1, X32_FIRST], answer(KILL_PROCESS)] : [];
  return encodeFilter([
    CALLER_ARCHITECTURE,
    [IF_EQUAL, 1, 0, ARCHITECTURE[arch]],
    answer(KILL_PROCESS),
    NUMBER,
    ...x32,
    ...judged.flat(),
    ...allowed.flat(),
    answer(refuse(ENOSYS)),
  ]);
}

const VERDICTS: Readonly<Record<keyof typeof JUDGED, readonly Instruction[]>> = {
  // The only socket is the one it was started with.
  socket: [answer(refuse(EAFNOSUPPORT))],
  // One for messages could send them to any socket that has a path.
  socketpair: [
    argument(0),
    [IF_EQUAL, 0, 3, AF_UNIX],
    argument(1),
    [IF_ANY_BIT, 1, 0, MESSAGES],
    answer(ALLOW),
    answer(refuse(EAFNOSUPPORT)),
  ],
  // Threads, and no namespaces with them.
  clone: [
    argument(0),
    [IF_ANY_BIT, 2, 0, CLONE_NEW],
    [IF_ANY_BIT, 0, 1, CLONE_THREAD],
    answer(ALLOW),
    answer(refuse(EPERM)),
  ],
  // Its flags are in memory, where no filter can look; the C library then uses clone.
  clone3: [answer(refuse(ENOSYS))],
  prctl: oneOf(0, NAMING, EPERM),
  // Not who gets signals of a file, nor locks on it.
  fcntl: oneOf(1, DESCRIPTORS, EINVAL),
  // Through any socket it would tell of the network.
  ioctl: oneOf(1, STREAMS, ENOTTY),
  // As for every option of TCP, which is all that the engine asks for.
  setsockopt: [answer(refuse(EOPNOTSUPP))],
  arch_prctl: oneOf(0, [ARCH_SET_FS], EINVAL),
  // The own thread; there is no such call for others.
  sched_getaffinity: oneOf(0, [0], ENOSYS),
  kill: [answer(refuse(EPERM))],
  tgkill: [answer(refuse(EPERM))],
  // Its own limits, and only to read them: process 0 and no new value.
  prlimit64: [
    argument(0),
    [IF_EQUAL, 0, 4, 0],
    argument(2),
    [IF_EQUAL, 0, 2, 0],
    argument(2, 1),
    [IF_EQUAL, 1, 0, 0],
    answer(refuse(EPERM)),
    answer(ALLOW),
  ],
  // Memory that is shared, or a stack to the kernel, is not counted by the limit on data.
  mmap: [argument(3), [IF_ANY_BIT, 0, 1, MAP_SHARED | MAP_GROWS_DOWN], answer(refuse(EPERM)), answer(ALLOW)],
};

/** Allowed where an argument has one of these values. */
function oneOf(index: number, values: readonly number[], errno: number): Instruction[] {
  const each = values.flatMap((value): Instruction[] => [[IF_EQUAL, 0, 1, value], answer(ALLOW)]);
  return [argument(index), ...each, answer(refuse(errno))];
}

/** The instructions for one number; every path through them has to end in an answer. */
function onlyFor(number: number, body: readonly Instruction[]): Instruction[] {
  return [[IF_EQUAL, 0, body.length, number], ...body];
}
