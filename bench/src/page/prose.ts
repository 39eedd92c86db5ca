/** What the page says about each part: how it is measured, and what its baseline does. */
export interface PartProse {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

export const INTRODUCTION = `\`\`\`
npm run bench                        # everything, about half an hour; rewrites this page
npm run bench -- --only vault        # one part; the others keep their last figures. Several: --only vault,logs
npm run bench -- --rounds 9          # five unless told
npm run bench -- --only builds --against ../earlier   # processor time a request, this build against another; nine rounds
npm run bench -- --compare FILE      # beside the raw figures of an earlier run; a run leaves them in bench/results/latest.json
npm run bench -- --quick             # rough figures, printed and not written unless --write is given
\`\`\`

This page is written by that command. Each part starts the product on a fresh database in a temporary folder, with everything
at its default except the rate limits, measures, and removes all of it. Load comes from a separate process. Run it on a machine
that does nothing else.

Absolute figures say more about the machine than about the product. So each path is compared with a baseline: what the same work
costs without the product, measured in alternating rounds of the same run. The first round of everything only warms up.
\`0.83 (0.80 to 0.86)\` is the median of the rounds and their spread; a wide spread means that the machine was busy, and the
figure is worth little. A part that must refuse nothing fails if any answer is not 2xx.

| Column | Meaning |
|---|---|
| baseline/s, product/s | Requests a second, median of the rounds |
| p50, p99, p99.9 ms | Percentiles of the product's latency; all connections are busy, so queueing is included |
| baseline CPU µs | Processor time a request of the baseline and its database |
| API CPU µs, PG CPU µs | Processor time a request of the product's own processes and of PostgreSQL, from \`/proc\` |
| RSS MB | Highest resident memory of the API processes that was seen |
| load % | How much of one core the load process took. Near 100 it was at its limit, and the rate is a lower bound |
| ratio | Product divided by baseline, round by round |

Load, product and database share the machine, as do load and baseline. Where a baseline is one process and the product is two (API
and PostgreSQL), few cores favour the baseline.`;

export const PARTS_PROSE: readonly PartProse[] = [
  {
    name: 'start',
    title: 'Start',
    text: 'From the start of the process to the line that says it is ready: with and without creating a new database.',
  },
  {
    name: 'http',
    title: 'Reads against bare node:http',
    text: `64 connections, one request at a time on each. The baseline is \`node:http\` answering the same bytes with the same headers and
doing nothing else. The product answers with authentication, checks, log line and metrics, from memory. How well the JIT
compiles a process differs from start to start, so both are started again for every round.`,
  },
  {
    name: 'write',
    title: 'An update with its audit row',
    text: `64 callers on one tenant. The baseline is the bare driver, without HTTP: UPDATE and INSERT in a transaction of their own on 20
connections, awaited one by one. All callers update the same row, which is the worst case for both. A ratio above 1 is the gain
of [group commit](costs.md#group-commit).`,
  },
  {
    name: 'vault',
    title: 'The vault',
    text: `A card with a fingerprint and two search indexes. The product seals it, hashes, writes token, two index rows, log entry and
counters, and answers when all of it is on disk. Reads are spread over 2,000 tokens; each is decrypted and has its log entry on
disk before the answer.

| Baseline | What it does |
|---|---|
| rows in own transaction | \`node:http\` that parses the same body and writes or removes the same rows by the bare driver, awaited one by one in a transaction of their own, on 20 connections; random bytes in place of everything sealed or hashed |
| HTTP ceiling | \`node:http\` that parses the same body and answers with the same bytes, storing nothing |
| unaudited raw read | \`node:http\` over one prepared \`SELECT\` by the primary key, without log entry or decryption |
| batches by the driver | \`node:http\` that parses the same body of 100 cards and writes their rows by one statement a table, in one transaction |
| raw page, raw page by term | \`node:http\` over one prepared \`SELECT\` of ten rows in the order of the list, without decryption, rights or log entry |`,
  },
  {
    name: 'growth',
    title: 'Tokens among few and many',
    text: `Three tenants, filled through \`POST /tokenize\`. One request at a time on one connection, the tenants in turn. The smallest is
the baseline: an answer must not take longer because a tenant has more tokens. Then the largest tenant is deleted, and one of its
tokens is read with a key that worked before.`,
  },
  {
    name: 'combinations',
    title: 'Lists by rules among few and many combinations of containers',
    text: `Three tenants, each of their tokens in a different combination of type and containers, up to as many as a tenant may have.
Lists and searches by keys that see tokens through an access rule, which has to be checked against every combination; one request
at a time on one connection, the tenants in turn. With \`--against\` it is the other checkout that is measured.`,
  },
  {
    name: 'logs',
    title: 'GET /logs among few and many rows',
    text: `Three tenants with entries over six months, filled by SQL. For each filter the first page of 10 rows, page 400, and a page with
about thirty rows left after it, each reached by a cursor. One request at a time, the tenants in turn; the smallest is the
baseline.`,
  },
  {
    name: 'tenants',
    title: 'Many tenants',
    text: `Real tenants, each with its own wrapped keys, application and key. The product is started with one and with all of them. Then
requests of tenants it has not seen since, one at a time; the second request of the same tenant is the baseline.`,
  },
  {
    name: 'workers',
    title: 'One and two workers',
    text: `\`STRONGROOM_WORKERS\` at 1 and at 2, each with its own embedded server, in turn; one worker is the baseline. On a machine
with two cores the load process and PostgreSQL need cores too, so a second worker can add little.`,
  },
  {
    name: 'server',
    title: 'Embedded server and server by URL',
    text: `The same product on the embedded server through its socket, which is the baseline, and on a PostgreSQL server from packages by
\`STRONGROOM_DATABASE_URL\` over TCP on loopback: with \`fsync\` on, \`shared_buffers\` of 128 MB and \`jit\` off on both. The versions
differ as the machine's line says.`,
  },
  {
    name: 'distributed',
    title: 'One server and servers that Citus joins',
    text: `The same product on one PostgreSQL server from packages, which is the baseline, and on a database that Citus has spread over a
coordinator and two workers, prepared by \`strongroom migrate --distribute citus\` with 32 shards a table; \`fsync\` on, \`shared_buffers\`
of 128 MB and \`jit\` off on every server. With one tenant, all of whose rows are on one worker, and with 16: there a transaction is of
one tenant alone, so tenants do not share one. Processor time of each server is that of its processes, from \`/proc\`. All servers
share this machine, so rates say little about what more machines would give; processor time by server says how much of the work
can be spread. Round trips are counted on the way between API and server, for requests that come one at a time: how often the API
asks after an answer, the COMMIT that nobody waits for among them. Statements are those that \`pg_stat_statements\` counts. Not run
where Citus is not installed beside PostgreSQL.`,
  },
  {
    name: 'redis',
    title: 'Counting for the rate limits',
    text: `Without limits, with counters in memory, and with counters shared through Redis on loopback, in turn. The requests come from
8,000 addresses by \`X-Forwarded-For\`, so that none of them reaches a limit.`,
  },
  {
    name: 'overload',
    title: 'Overload',
    text: `First the peak: creates on 64 connections, each waiting for its answer. Then creates at a fixed rate, whether or not answers
come: half the peak, four times the peak, half the peak again, on at most 512 connections with one request at a time on each, as
a proxy in front would hold them; then the same on 2,000, for which there is no goal. A request that finds no free connection is
not sent, and is counted as such. Goodput is the number of successes in the middle second of the overload. Refusals are answers
503 and 429. The product has recovered in the second from which on p99 is at most twice that of the worst second before the
overload, and no request is refused.`,
  },
  {
    name: 'neighbours',
    title: 'One tenant beside another',
    text: `Two tenants of one process. The neighbour works normally on two connections, first alone, which is the baseline, and then while
the other tenant does its worst: 55 clients that each search 200,000 tokens for something that no index finds, a hundred creates
a second under an id that is taken, or the heaviest body of each route as often as one address may create tokens. On a machine
with two cores the work the other tenant is still allowed to do takes its share of them.`,
  },
  {
    name: 'steps',
    title: 'The longest step',
    text: `How long the event loop stands still for one request that is as heavy as its route allows, in an otherwise idle process: nobody
else is served during such a step. It is wall time, by Node's own measurement of event loop delay, so a busy machine makes it
longer. Work on large bodies is done in steps; what cannot be divided is parsing the JSON.`,
  },
  {
    name: 'sign-in',
    title: 'Signing in',
    text: `Wrong sign-ins with the real cost of a password, each from a new address. First one at a time, for accounts that do not exist
and for some of 10,000 that do, in turn: their times must not tell which is which. Then a flood of them, while a neighbour creates
and reads tokens; alone is the baseline. Two passwords are hashed at a time and take up to 128 MiB each; a sign-in waits 10 s at
most, then it is told 503.`,
  },
  {
    name: 'portal',
    title: 'The Portal',
    text: `A real Chromium on this machine, signed in as the owner of a tenant with a million log entries. Pages are opened by their
address in a browser that has their files and none of their answers; the time ends when their first content can be seen. Then the
log is followed while 50 entries a second are written: what the page holds after a minute, collected garbage aside, beside what it
held when its list was full.`,
  },
  {
    name: 'reactors',
    title: 'Reactors',
    text: `Calls of a Reactor with 1 KB of arguments and one token, on one connection. The baseline of a warm call is the product
itself, joined to the same database, with the code run in its own process and no wall around it; what is added is the difference
of the two. Cold calls are the first ones of new Reactors, with a process started ahead and without. Beside a hundred calls of
another tenant whose code loops, a warm call is compared with itself alone. Memory is what a process has for itself with its
share of what it has together with others. The start of the service is compared with that of one whose Reactors are off.`,
  },
  {
    name: 'proxies',
    title: 'Proxies',
    text: `A request of 1 KB of JSON with one token to a server over TLS on loopback, 64 connections. The baseline is \`node:http\` that
forwards the same bytes to the same server on connections that stay open: it finds no token, checks no right and writes no log.
Then the same on one connection through a stored Proxy, with and without code that changes the request. Then 100 MB each way,
with the resident memory of the API process sampled every 20 ms.`,
  },
  {
    name: 'memory',
    title: 'Large values',
    text: `One tenant has 100 tokens of 1 MiB. 64 clients ask for all of them on one page, again and again, and read them; then 64 that
never read what they asked for; then nine that detokenize all of them. At the same time a neighbour reads small tokens on 16
connections; alone is the baseline. Memory is that of the API process, sampled every 50 ms. Refused are answers 503, after which
these clients wait a second; under such load hardly a page is finished in the few seconds that are measured.`,
  },
  {
    name: 'capacity',
    title: 'What tokens and requests take',
    text: `The figures of the [capacity model](scaling.md): bytes on disk a token with its log entry takes, and what a request adds to
the write-ahead log of PostgreSQL. A flush is what a disk must do before an answer; changes that arrive together share one.`,
  },
  {
    name: 'builds',
    title: 'This build and an earlier one',
    text: `Only with \`--against\`, the folder of another checkout that was built. Both builds have their own embedded server and
get the same requests, as many in every round, on as many connections, in short turns of a few hundred requests, so that other
work of the machine affects both. How well the JIT compiles a process differs from start to start, so both are started again for
every round, and warmed up. The figure compared is processor time per request, user and system, of the API and of PostgreSQL
without autovacuum, because it depends less than the rate on other work of the machine. A build compared with itself shows how
much of a ratio is chance.`,
  },
  {
    name: 'builds-by-url',
    title: 'This build and an earlier one, on PostgreSQL servers',
    text: `The same, where each build has a server from packages, with the settings of the embedded one, reached by URL.`,
  },
];
