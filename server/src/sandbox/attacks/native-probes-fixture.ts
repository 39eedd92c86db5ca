import type { Argument, StepOptions } from '../launcher/program.js';
import type { SystemCall } from '../launcher/system-calls.js';
import { words32, words64 } from '../wall/words.js';

/** What is put outside the wall for probes to reach. */
export interface Bait {
  readonly pid: number;
  readonly secretFile: string;
  readonly socketPath: string;
  readonly abstractName: string;
  /** A socket that takes single messages. */
  readonly datagramPath: string;
  readonly port: number;
  /** The folder the engine may read, as it sees it. */
  readonly folder: string;
}

export type ProbeStep = readonly [call: SystemCall, args: readonly Argument[], options?: StepOptions];

/** System calls in the engine's place, as somebody who has taken it over would make them: all of them work, or the wall held. */
export interface NativeProbe {
  readonly name: string;
  readonly steps: (bait: Bait) => readonly ProbeStep[];
  /** Where there is no such call. */
  readonly onlyOn?: 'x64';
  /** Never tried without a wall: it needs rights that an ordinary user lacks, or would harm the machine. */
  readonly isRare?: true;
}

const AT_WORKING_FOLDER = -100;
/** The first free descriptor behind the wall: the engine's socket is 3. */
const OPENED = 4;
const CREATE_AND_WRITE = 0o101;
const PAGE = 4_096;
const BUFFER = Buffer.alloc(64);

/** Numbers for x64 and arm64. */
const CALL = {
  connect: [42, 203],
  socketpair: [53, 199],
  fork: [57, -1],
  vfork: [58, -1],
  clone3: [435, 435],
  kill: [62, 129],
  tgkill: [234, 131],
  tkill: [200, 130],
  pidfdOpen: [434, 434],
  ptrace: [101, 117],
  readMemory: [310, 270],
  unshare: [272, 97],
  setns: [308, 268],
  chroot: [161, 51],
  openTree: [428, 428],
  fsopen: [430, 430],
  bpf: [321, 280],
  ioUring: [425, 425],
  perf: [298, 241],
  userfault: [323, 282],
  keyctl: [250, 219],
  addKey: [248, 217],
  memfd: [319, 279],
  openByHandle: [304, 265],
  kexec: [246, 104],
  initModule: [175, 105],
  personality: [135, 92],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
  modifyLdt: [154, -1],
  iopl: [172, -1],
  syslog: [103, 116],
  acct: [163, 89],
  swapon: [167, 224],
  reboot: [169, 142],
  clockSettime: [227, 112],
  setuid: [105, 146],
  setgid: [106, 144],
  setfsuid: [122, 151],
  setsid: [112, 157],
  schedSetscheduler: [144, 119],
  schedSetaffinity: [203, 122],
  ioprioSet: [251, 30],
  vmsplice: [278, 75],
  unlinkat: [263, 35],
  renameat2: [316, 276],
  symlinkat: [266, 36],
  linkat: [265, 37],
  mknodat: [259, 33],
  fchmodat: [268, 53],
  utimensat: [280, 88],
  inotify: [294, 26],
  fanotify: [300, 262],
  dup: [32, 23],
  mmap: [9, 222],
  mlockall: [151, 230],
  openat2: [437, 437],
  landlockAgain: [444, 444],
  execveat: [322, 281],
  setrlimit: [160, 164],
} as const;

const SIGNAL_0 = 0;

const reads = (name: string, path: string | ((bait: Bait) => string)): NativeProbe => ({
  name: `read ${name}`,
  steps: (bait) => [
    ['openat', [AT_WORKING_FOLDER, typeof path === 'string' ? path : path(bait), 0]],
    ['read', [OPENED, BUFFER, BUFFER.length]],
  ],
});
const lists = (path: string): NativeProbe => ({
  name: `list ${path}`,
  steps: () => [['openat', [AT_WORKING_FOLDER, path, 0o200000]]],
});
const calls = (
  name: string,
  call: SystemCall,
  args: readonly Argument[],
  more: Partial<NativeProbe> = {},
): NativeProbe => ({
  name,
  steps: () => [[call, args]],
  ...more,
});
const opensSocket = (name: string, family: number, type: number, protocol = 0, more: Partial<NativeProbe> = {}) =>
  calls(`socket ${name}`, 'socket', [family, type, protocol], more);

export function unixAddress(path: string): Buffer {
  const address = Buffer.alloc(110);
  address.writeUInt16LE(1, 0);
  address.write(path, 2);
  return address;
}

function inetAddress(port: number): Buffer {
  const address = Buffer.alloc(16);
  address.writeUInt16LE(2, 0);
  address.writeUInt16BE(port, 2);
  address.writeUInt32BE(0x7f00_0001, 4);
  return address;
}

const connects = (name: string, family: number, address: (bait: Bait) => Buffer, bytes?: (bait: Bait) => number) => ({
  name: `connect to ${name}`,
  steps: (bait: Bait): ProbeStep[] => [
    ['socket', [family, 1, 0]],
    [CALL.connect, [OPENED, address(bait), bytes?.(bait) ?? address(bait).length]],
  ],
});

const FILES: readonly NativeProbe[] = [
  reads('/etc/passwd', '/etc/passwd'),
  reads('/etc/hostname', '/etc/hostname'),
  reads('/proc/self/environ', '/proc/self/environ'),
  reads('/proc/self/maps', '/proc/self/maps'),
  reads('/proc/1/environ', '/proc/1/environ'),
  reads('/proc/<api>/environ', ({ pid }) => `/proc/${pid}/environ`),
  reads('/proc/<api>/cmdline', ({ pid }) => `/proc/${pid}/cmdline`),
  reads('/proc/<api>/maps', ({ pid }) => `/proc/${pid}/maps`),
  reads('/proc/net/tcp', '/proc/net/tcp'),
  reads('/proc/version', '/proc/version'),
  reads('/dev/zero', '/dev/zero'),
  reads('/sys/kernel/uevent_seqnum', '/sys/kernel/uevent_seqnum'),
  reads('the secret', ({ secretFile }) => secretFile),
  reads('the secret by the working folder', ({ secretFile }) => `../../../../../..${secretFile}`),
  lists('/tmp'),
  lists('/root'),
  lists('/proc'),
  lists('/dev'),
  lists('/home'),
  calls('write /tmp', 'openat', [AT_WORKING_FOLDER, '/tmp/strongroom-probe', CREATE_AND_WRITE, 0o600]),
  calls('write the working folder', 'openat', [AT_WORKING_FOLDER, 'probe', CREATE_AND_WRITE, 0o600]),
  calls('write beside the socket', 'openat', [AT_WORKING_FOLDER, 's/probe', CREATE_AND_WRITE, 0o600]),
  {
    name: 'write the configuration',
    steps: ({ folder }) => [['openat', [AT_WORKING_FOLDER, `${folder}/config.bin`, 1]]],
  },
  calls('make a folder', 'mkdirat', [AT_WORKING_FOLDER, 'probe', 0o700]),
  calls('remove the socket', CALL.unlinkat, [AT_WORKING_FOLDER, 's/in.sock', 0]),
  calls('rename the socket', CALL.renameat2, [AT_WORKING_FOLDER, 's/in.sock', AT_WORKING_FOLDER, 's/other', 0]),
  calls('make a symbolic link', CALL.symlinkat, ['/etc/passwd', AT_WORKING_FOLDER, 'link']),
  calls('make a hard link', CALL.linkat, [AT_WORKING_FOLDER, 's/in.sock', AT_WORKING_FOLDER, 'hard', 0]),
  calls('make a device', CALL.mknodat, [AT_WORKING_FOLDER, 'device', 0o020600, 0x103], { isRare: true }),
  calls('make a pipe file', CALL.mknodat, [AT_WORKING_FOLDER, 'pipe', 0o010600, 0]),
  calls('change a mode', CALL.fchmodat, [AT_WORKING_FOLDER, 's', 0o777]),
  calls('change times', CALL.utimensat, [AT_WORKING_FOLDER, 's', null, 0]),
  calls('a file in memory', CALL.memfd, ['x', 0]),
  calls('watch files', CALL.inotify, [0]),
  calls('watch all files', CALL.fanotify, [0, 0], { isRare: true }),
  calls('a file by its handle', CALL.openByHandle, [AT_WORKING_FOLDER, Buffer.alloc(16), 0], { isRare: true }),
  calls('openat2', CALL.openat2, [AT_WORKING_FOLDER, '/', words64(0, 0, 0), 24]),
];

const NETWORK: readonly NativeProbe[] = [
  opensSocket('TCP', 2, 1),
  opensSocket('TCP over IPv6', 10, 1),
  opensSocket('UDP', 2, 2),
  opensSocket('ICMP', 2, 2, 1, { isRare: true }),
  opensSocket('raw', 2, 3, 1, { isRare: true }),
  opensSocket('netlink', 16, 3),
  opensSocket('packet', 17, 3, 0, { isRare: true }),
  opensSocket('vsock', 40, 1, 0, { isRare: true }),
  opensSocket('kernel crypto', 38, 5, 0, { isRare: true }),
  opensSocket('unix', 1, 1),
  connects('a port of loopback', 2, ({ port }) => inetAddress(port)),
  connects('a socket of the host', 1, ({ socketPath }) => unixAddress(socketPath)),
  connects(
    'an abstract socket of the host',
    1,
    ({ abstractName }) => unixAddress(`\0${abstractName}`),
    ({ abstractName }) => 3 + abstractName.length,
  ),
  calls('a pair of sockets of the network', CALL.socketpair, [2, 1, 0, Buffer.alloc(8)], { isRare: true }),
  calls('connect the own socket', CALL.connect, [3, unixAddress('/var/run/docker.sock'), 110], { isRare: true }),
  calls('bind the own socket again', 'bind', [3, unixAddress('s/again'), 110], { isRare: true }),
];

const PROCESSES: readonly NativeProbe[] = [
  { name: 'signal the API', steps: ({ pid }) => [[CALL.kill, [pid, SIGNAL_0]]] },
  { name: 'signal a thread of the API', steps: ({ pid }) => [[CALL.tgkill, [pid, pid, SIGNAL_0]]] },
  { name: 'signal a thread of the API, old form', steps: ({ pid }) => [[CALL.tkill, [pid, SIGNAL_0]]] },
  { name: 'a handle on the API', steps: ({ pid }) => [[CALL.pidfdOpen, [pid, 0]]] },
  { name: 'trace the API', steps: ({ pid }) => [[CALL.ptrace, [16, pid, 0, 0]]], isRare: true },
  {
    name: 'read the memory of the API',
    steps: ({ pid }) => [[CALL.readMemory, [pid, words64(0, 0), 0, words64(0, 0), 0, 0]]],
    isRare: true,
  },
  calls('signal everybody', CALL.kill, [-1, SIGNAL_0], { isRare: true }),
  calls('signal the group', CALL.kill, [0, SIGNAL_0]),
  calls('fork', CALL.fork, [], { onlyOn: 'x64' }),
  calls('vfork', CALL.vfork, [], { onlyOn: 'x64', isRare: true }),
  calls('clone a process', 'clone', [17, 0, 0, 0, 0]),
  calls('clone3', CALL.clone3, [words64(0, 0, 0, 0, 17, 0, 0, 0), 64]),
  calls('unshare the user namespace', CALL.unshare, [0x1000_0000], { isRare: true }),
  calls('unshare the network', CALL.unshare, [0x4000_0000], { isRare: true }),
  calls('enter a namespace', CALL.setns, [0, 0], { isRare: true }),
  calls('run a shell', 'execve', ['/bin/sh', { pointers: ['sh', '-c', 'exit 0'] }, { pointers: [] }], { isRare: true }),
  calls(
    'run by a descriptor',
    CALL.execveat,
    [AT_WORKING_FOLDER, '/bin/sh', { pointers: ['sh'] }, { pointers: [] }, 0],
    {
      isRare: true,
    },
  ),
  calls('become root', CALL.setuid, [0], { isRare: true }),
  calls('become another group', CALL.setgid, [0], { isRare: true }),
  calls('become another for files', CALL.setfsuid, [0]),
  calls('leave the group', CALL.setsid, [], { isRare: true }),
  calls('another priority', 'setpriority', [0, 0, 11]),
  calls('real-time priority', CALL.schedSetscheduler, [0, 0, words32(0)]),
  calls('another processor', CALL.schedSetaffinity, [0, 8, words64(1)]),
  calls('priority of input and output', CALL.ioprioSet, [1, 0, 0]),
  calls('outlive the API', 'prctl', [1, 0, 0, 0, 0]),
  calls('become dumpable', 'prctl', [4, 1, 0, 0, 0]),
  calls('another filter', 'seccomp', [0, 0, null], { isRare: true }),
  calls('keep capabilities', 'prctl', [8, 0, 0, 0, 0]),
];

const KERNEL: readonly NativeProbe[] = [
  calls('mount', 'mount', ['tmpfs', '/', 'tmpfs', 0, null], { isRare: true }),
  calls('unmount', 'umount2', ['/', 2], { isRare: true }),
  calls('another root', 'pivot_root', ['.', '.'], { isRare: true }),
  calls('chroot', CALL.chroot, ['.'], { isRare: true }),
  calls('open a tree of mounts', CALL.openTree, [AT_WORKING_FOLDER, '/', 0]),
  calls('open a file system', CALL.fsopen, ['tmpfs', 0], { isRare: true }),
  calls('bpf', CALL.bpf, [0, Buffer.alloc(128), 128], { isRare: true }),
  calls('io_uring', CALL.ioUring, [8, Buffer.alloc(256)]),
  calls('performance counters', CALL.perf, [Buffer.alloc(128), 0, -1, -1, 0], { isRare: true }),
  calls('page faults in user space', CALL.userfault, [1], { isRare: true }),
  calls('keys of the kernel', CALL.keyctl, [0, -3, 0], { isRare: true }),
  calls('add a key', CALL.addKey, ['user', 'a', 'b', 1, -3], { isRare: true }),
  calls('shared memory', CALL.shmget, [0, PAGE, 0o1600]),
  calls('semaphores', CALL.semget, [0, 1, 0o1600]),
  calls('message queue', CALL.msgget, [0, 0o1600]),
  calls('personality', CALL.personality, [0xffff_ffff]),
  calls('kernel log', CALL.syslog, [10, null, 0], { isRare: true }),
  calls('local descriptor table', CALL.modifyLdt, [0, Buffer.alloc(16), 16], { onlyOn: 'x64' }),
  calls('ports of the machine', CALL.iopl, [0], { onlyOn: 'x64', isRare: true }),
  calls('load a module', CALL.initModule, [Buffer.alloc(8), 8, ''], { isRare: true }),
  calls('load a kernel', CALL.kexec, [0, 0, null, 0], { isRare: true }),
  calls('swap', CALL.swapon, ['/none', 0], { isRare: true }),
  calls('accounting', CALL.acct, [null], { isRare: true }),
  calls('reboot', CALL.reboot, [0, 0, 0, null], { isRare: true }),
  calls('set the clock', CALL.clockSettime, [0, null], { isRare: true }),
  calls('move pages into a pipe', CALL.vmsplice, [1, null, 0, 0], { isRare: true }),
  calls('new Landlock rules', CALL.landlockAgain, [words64(1), 8, 0]),
];

const LIMITS: readonly NativeProbe[] = [
  calls('raise the limit on data', 'prlimit64', [0, 2, words64(2 ** 40, 2 ** 40), null], { isRare: true }),
  calls('lower a limit', 'prlimit64', [0, 7, words64(10, 10), null]),
  { name: 'limits of the API', steps: ({ pid }) => [['prlimit64', [pid, 7, null, Buffer.alloc(16)]]] },
  calls('set a limit, old form', CALL.setrlimit, [7, words64(10, 10)]),
  calls('memory that is shared', CALL.mmap, [0, PAGE, 3, 0x21, -1, 0]),
  calls('lock memory', CALL.mlockall, [1]),
  { name: '300 descriptors', steps: () => Array.from({ length: 300 }, (): ProbeStep => [CALL.dup, [2]]) },
  {
    name: '1 GiB of memory',
    steps: () => Array.from({ length: 64 }, (): ProbeStep => [CALL.mmap, [0, 16 * 1024 * 1024, 3, 0x22, -1, 0]]),
  },
];

export const NATIVE_PROBES: readonly NativeProbe[] = [...FILES, ...NETWORK, ...PROCESSES, ...KERNEL, ...LIMITS];
