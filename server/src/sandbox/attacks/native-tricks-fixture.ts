import type { Argument } from '../launcher/program.js';
import type { SystemCall } from '../launcher/system-calls.js';
import { words32, words64 } from '../wall/words.js';
import type { Bait, NativeProbe, ProbeStep } from './native-probes-fixture.js';
import { unixAddress } from './native-probes-fixture.js';

/** More system calls in the engine's place, of other kinds: newer and odder ones, and forms of calls that the engine needs. */

const AT_WORKING_FOLDER = -100;
const SOCKET = 3;
/** The first descriptors that are free. */
const [FIRST, SECOND, THIRD] = [4, 5, 6] as const;
const PAGE = 4_096;
/** An address nothing is at. */
const PLACE = 0x2000_0000;
const READ_WRITE_EXECUTE = 7;
const PRIVATE_ANONYMOUS_FIXED = 0x32;
const GROWS_DOWN = 0x100;
const FOLDER = 0o200000;

/** Numbers for x64 and arm64. */
const CALL = {
  getpid: [39, 172],
  pidfdOpen: [434, 434],
  mmap: [9, 222],
  fcntl: [72, 25],
  ioctl: [16, 29],
  setsockopt: [54, 208],
  socketpair: [53, 199],
  sendto: [44, 206],
  sendmsg: [46, 211],
  pipe2: [293, 59],
  signalAction: [13, 134],
  splice: [275, 76],
  tee: [276, 77],
  timerCreate: [222, 107],
  cachestat: [451, 451],
  mseal: [462, 462],
} as const;

const calls = (
  name: string,
  call: SystemCall,
  args: readonly Argument[],
  more: Partial<NativeProbe> = {},
): NativeProbe => ({ name, steps: () => [[call, args]], ...more });
const rare = (name: string, call: SystemCall, args: readonly Argument[]): NativeProbe =>
  calls(name, call, args, { isRare: true });

/** With the configuration open, which the engine may read. */
const withFile = (name: string, call: SystemCall, args: readonly Argument[], more: Partial<NativeProbe> = {}) => ({
  name,
  steps: ({ folder }: Bait): ProbeStep[] => [
    ['openat', [AT_WORKING_FOLDER, `${folder}/config.bin`, 0]],
    [call, [FIRST, ...args]],
  ],
  ...more,
});
/** With a handle on its own process. */
const withHandle = (name: string, call: SystemCall, args: readonly Argument[], more: Partial<NativeProbe> = {}) => ({
  name,
  steps: (): ProbeStep[] => [
    [CALL.getpid, [], { keepsResult: true }],
    [CALL.pidfdOpen, [0, 0], { takesResult: true }],
    [call, [FIRST, ...args]],
  ],
  ...more,
});

const PROCESSES: readonly NativeProbe[] = [
  withHandle('a descriptor by a handle', [438, 438], [2, 0]),
  withHandle('a signal by a handle', [424, 424], [0, null, 0]),
  withHandle('advice on the memory of a process', [440, 440], [words64(PLACE, 0), 1, 20, 0]),
  withHandle('take the memory of a process that ends', [448, 448], [0], { isRare: true }),
  { name: 'the group of the API', steps: ({ pid }) => [[[121, 155], [pid]]] },
  { name: 'the session of the API', steps: ({ pid }) => [[[124, 156], [pid]]] },
  {
    name: 'locks of a thread of the API',
    steps: ({ pid }) => [
      [
        [274, 100],
        [pid, words64(0), words64(0)],
      ],
    ],
    isRare: true,
  },
  {
    name: 'compare with the API',
    steps: ({ pid }) => [
      [
        [312, 272],
        [pid, pid, 0, 0, 0],
      ],
    ],
    isRare: true,
  },
  {
    name: 'processors of the API',
    steps: ({ pid }) => [
      [
        [204, 123],
        [pid, 128, Buffer.alloc(128)],
      ],
    ],
  },
  calls('a group of its own', [109, 154], [0, 0]),
  calls('the parent', [110, 173], []),
  calls('a timer of the kernel', CALL.timerCreate, [1, null, words64(0)]),
  {
    name: 'a timer for a thread of the API',
    steps: ({ pid }) => [
      [CALL.timerCreate, [1, words32(0, 0, 10, 4, pid, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), words64(0)]],
    ],
    isRare: true,
  },
  calls('an alarm', [38, 103], [0, words64(0, 0, 0, 0), null]),
  calls('another order of turns', [314, 274], [0, words32(48, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0]),
  calls('wake a lock, newer form', [454, 454], [Buffer.alloc(16), 1, 1, 2]),
  rare('wait for many locks', [449, 449], [Buffer.alloc(24), 1, 0, null, 0]),
  {
    name: 'a filter that asks another process',
    steps: () => [
      ['prctl', [38, 1, 0, 0, 0], { mayFail: true }],
      ['seccomp', [1, 8, { bytes: words64(1, 0), pointerAt: 8, to: Buffer.from([6, 0, 0, 0, 0, 0, 0xff, 0x7f]) }]],
    ],
  },
];

/** The first argument chooses what it is about. */
const PRCTL: readonly NativeProbe[] = [
  calls('prctl: take in orphans', 'prctl', [36, 1, 0, 0, 0]),
  calls('prctl: coarse timers', 'prctl', [29, 1, 0, 0, 0]),
  calls('prctl: no large pages', 'prctl', [41, 1, 0, 0, 0]),
  calls('prctl: system calls by its own handler', 'prctl', [59, 0, 0, 0, 0]),
  calls('prctl: drop ambient capabilities', 'prctl', [47, 4, 0, 0, 0]),
  calls('prctl: errors of the machine', 'prctl', [33, 0, 0, 0, 0]),
  rare('prctl: who may trace it', 'prctl', [0x5961_6d61, -1, 0, 0, 0]),
  rare('prctl: its own memory map', 'prctl', [35, 9, PLACE, 0, 0]),
  rare('prctl: bits of security', 'prctl', [28, 0, 0, 0, 0]),
  rare('prctl: speculation', 'prctl', [53, 0, 2, 0, 0]),
  rare('prctl: a core of its own', 'prctl', [62, 1, 0, 0, 0]),
  calls('arch_prctl: which registers there are', [158, -1], [0x1021, words64(0)], { onlyOn: 'x64' }),
  calls('arch_prctl: the other base of a thread', [158, -1], [0x1001, 0], { onlyOn: 'x64' }),
];

/** Calls that the engine needs, in forms that it does not. */
const FORMS: readonly NativeProbe[] = [
  {
    name: 'a message to a socket of the host',
    steps: ({ datagramPath }) => [
      [CALL.socketpair, [1, 2, 0, Buffer.alloc(8)]],
      [CALL.sendto, [FIRST, Buffer.from('x'), 1, 0, unixAddress(datagramPath), 2 + datagramPath.length + 1]],
    ],
  },
  {
    name: 'a message to an abstract socket of the host',
    steps: ({ abstractName }) => [
      [CALL.socketpair, [1, 2, 0, Buffer.alloc(8)]],
      [CALL.sendto, [FIRST, Buffer.from('x'), 1, 0, unixAddress(`\0${abstractName}`), 3 + abstractName.length]],
    ],
    isRare: true,
  },
  {
    name: 'a message signed as root',
    steps: () => [
      [CALL.socketpair, [1, 1, 0, Buffer.alloc(8)]],
      [CALL.sendmsg, [FIRST, messageWith(Buffer.concat([words64(28), words32(1, 2, 1, 0, 0, 0)])), 0]],
    ],
    isRare: true,
  },
  {
    name: 'a descriptor handed over by the own socket',
    steps: () => [[CALL.sendmsg, [SOCKET, messageWith(Buffer.concat([words64(20), words32(1, 1, 2, 0)])), 0]]],
    isRare: true,
  },
  { name: 'signals of a socket to the API', steps: ({ pid }) => [[CALL.fcntl, [SOCKET, 8, pid]]] },
  calls('another signal of a socket', CALL.fcntl, [SOCKET, 10, 23]),
  calls('signals of a socket, newer form', CALL.fcntl, [SOCKET, 15, words32(1, 0)]),
  withFile('a lock on a file', CALL.fcntl, [6, Buffer.alloc(32)]),
  withFile('a lease on a file', CALL.fcntl, [1024, 0], { isRare: true }),
  {
    name: 'signals of a folder',
    steps: ({ folder }) => [
      ['openat', [AT_WORKING_FOLDER, folder, FOLDER]],
      [CALL.fcntl, [FIRST, 1026, 2]],
    ],
  },
  calls('interfaces of the network', CALL.ioctl, [
    SOCKET,
    0x8912,
    { bytes: words64(400, 0), pointerAt: 8, to: Buffer.alloc(400) },
  ]),
  calls('flags of an interface of the network', CALL.ioctl, [SOCKET, 0x8913, Buffer.from('lo'.padEnd(40, '\0'))]),
  rare('type into a terminal', CALL.ioctl, [0, 0x5412, Buffer.from('x')]),
  rare('the console of the machine', CALL.ioctl, [0, 0x541c, Buffer.from([2])]),
  withFile('where a file is on the disk', CALL.ioctl, [2, words32(0)]),
  calls('a filter for packets', CALL.setsockopt, [
    SOCKET,
    1,
    26,
    { bytes: words64(1, 0), pointerAt: 8, to: Buffer.from([6, 0, 0, 0, 0, 0, 1, 0]) },
    16,
  ]),
  calls('larger buffers of a socket', CALL.setsockopt, [SOCKET, 1, 7, words32(1 << 20), 4]),
  {
    name: '1 GiB of memory that grows down',
    steps: () => Array.from({ length: 64 }, (): ProbeStep => [CALL.mmap, [0, 1 << 24, 3, 0x22 | GROWS_DOWN, -1, 0]]),
  },
];

/** The message has control data alone. */
function messageWith(control: Buffer): Argument {
  return { bytes: words64(0, 0, 0, 0, 0, control.length, 0), pointerAt: 32, to: control };
}

const MEMORY_AND_FILES: readonly NativeProbe[] = [
  rare('secret memory', [447, 447], [0]),
  rare('a stack of shadows', [453, 453], [0, PAGE, 0]),
  {
    name: 'memory that cannot be changed again',
    steps: () => [
      [CALL.mmap, [PLACE, PAGE, 3, PRIVATE_ANONYMOUS_FIXED, -1, 0]],
      [CALL.mseal, [PLACE, PAGE, 0]],
    ],
  },
  calls('memory of a node', [238, 237], [0, null, 0]),
  calls('where pages are', [279, 239], [0, 0, null, null, null, 0]),
  calls('addresses that are not random', [135, 92], [0x4_0000]),
  calls('write a local descriptor', [154, -1], [0x11, words32(0, 0, 0, 0x28), 16], { onlyOn: 'x64' }),
  calls('the processor', [309, 168], [words32(0), words32(0), null]),
  withFile('what is in the cache of files', CALL.cachestat, [words64(0, 0), Buffer.alloc(40), 0], { isRare: true }),
  withFile('out of the cache of files', [221, 223], [0, 0, 4]),
  withFile('into the cache of files', [187, 213], [0, PAGE]),
  withFile('a lock on a whole file', [73, 32], [1]),
  withFile('to a file by its descriptor', [40, 71], [FIRST, null, 16], { isRare: true }),
  {
    name: 'a file into a pipe',
    steps: ({ folder }) => [
      [CALL.pipe2, [Buffer.alloc(8), 0]],
      ['openat', [AT_WORKING_FOLDER, `${folder}/config.bin`, 0]],
      [CALL.splice, [THIRD, null, SECOND, null, 16, 0]],
    ],
  },
  {
    name: 'a pipe into another',
    steps: () => [
      [CALL.pipe2, [Buffer.alloc(8), 0]],
      [CALL.pipe2, [Buffer.alloc(8), 0]],
      ['write', [SECOND, Buffer.from('x'), 1]],
      [CALL.tee, [FIRST, 7, 1, 0]],
    ],
  },
  {
    name: 'a file copied by the kernel',
    steps: ({ folder }) => [
      ['openat', [AT_WORKING_FOLDER, `${folder}/config.bin`, 0]],
      ['openat', [AT_WORKING_FOLDER, 's/copy', 0o102, 0o600]],
      [
        [326, 285],
        [FIRST, null, SECOND, null, 16, 0],
      ],
    ],
  },
  {
    name: 'another working folder by its descriptor',
    steps: ({ folder }) => [
      ['openat', [AT_WORKING_FOLDER, folder, FOLDER]],
      [[81, 50], [FIRST]],
    ],
  },
  calls('all mounts', [458, 458], [words64(24, 2 ** 63, 0), Buffer.alloc(512), 64, 0], { isRare: true }),
  calls('the file system', [137, 43], ['/', Buffer.alloc(128)]),
  calls('attributes of a file', [194, 11], ['/', Buffer.alloc(64), 64]),
  calls('another owner of a file', [260, 54], [AT_WORKING_FOLDER, 's', -1, -1, 0]),
  calls('write everything to the disks', [162, 81], []),
  rare('quotas by a descriptor', [443, 443], [0, 0, 0, null]),
  rare('what the security modules say', [459, 459], [100, Buffer.alloc(64), words32(64), 0]),
  rare('a ring by its register', [427, 427], [-1, 31, null, 0]),
  calls('the own memory as a file', 'openat', [AT_WORKING_FOLDER, '/proc/self/mem', 2]),
  calls('a terminal', 'openat', [AT_WORKING_FOLDER, '/dev/ptmx', 2], { isRare: true }),
  calls('files that processes share', 'openat', [AT_WORKING_FOLDER, '/dev/shm', FOLDER]),
];

/** Asks by the number of the oldest architecture, in a handler of a signal: `mov eax, 20; int 0x80; ret`, and the way back. */
const OLD_ENTRY = Buffer.from('b814000000cd80c30000000000000000b80f0000000f05', 'hex');
const BACK_AT = 16;
const SIGPIPE = 13;
const RESTORES = 0x400_0000;

const ENTRIES: readonly NativeProbe[] = [
  {
    name: 'the entry of the old architecture',
    onlyOn: 'x64',
    steps: () => [
      [CALL.mmap, [PLACE, PAGE, READ_WRITE_EXECUTE, PRIVATE_ANONYMOUS_FIXED, -1, 0]],
      [CALL.pipe2, [Buffer.alloc(8), 0]],
      ['write', [SECOND, OLD_ENTRY, OLD_ENTRY.length]],
      ['read', [FIRST, PLACE, OLD_ENTRY.length]],
      ['close', [FIRST]],
      [CALL.signalAction, [SIGPIPE, words64(PLACE, RESTORES, PLACE + BACK_AT, 0), null, 8]],
      ['write', [SECOND, OLD_ENTRY, 1], { mayFail: true }],
    ],
  },
  calls('numbers of the architecture between', [0x4000_0000 + 39, -1], [], { onlyOn: 'x64', isRare: true }),
  calls('a number without a call', [1_000, 1_000], [], { isRare: true }),
];

export const NATIVE_TRICKS: readonly NativeProbe[] = [
  ...PROCESSES,
  ...PRCTL,
  ...FORMS,
  ...MEMORY_AND_FILES,
  ...ENTRIES,
];
