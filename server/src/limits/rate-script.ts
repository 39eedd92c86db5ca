import { SLICE_MS, WINDOW_MS, WINDOW_SLICES } from './window.js';

/** The server's own clock, in microseconds, so that nodes need not agree on the time. Whole numbers, so sums are exact. */
const SERVER_TIME = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]`;

const SLICE_US = SLICE_MS * 1_000;
const HEADER_BYTES = 18;

/**
 * Counts one request in all its limits, as `RateCounter` says. KEYS: a key for each limit, the widest first.
 * ARGV: for each limit how many requests pass, and how many milliseconds a block lasts.
 * Answers 0 when the request may go on, else the microseconds left of the block in each limit.
 *
 * A key holds the moment it was last counted in, the end of its block and the sum of its window, then two bytes for each
 * slice, the newest first; slices that are not written are empty. Moving on is putting empty slices in front and cutting
 * off what no longer fits. It expires with its window or its block, so nothing has to be cleaned up.
 *
 * A clock that was set back would make windows and blocks last too long, and a client within its limit must never be
 * refused: a key from the future is forgotten instead.
 */
export function rateScript(readTime: string = SERVER_TIME): string {
  return `${readTime}
local slice = math.floor(now / ${SLICE_US})
local isCounting = true
local isRefused = false
local lefts = {}

local function read(key, block)
  local state = redis.call('GET', key)
  if not state or #state < ${HEADER_BYTES} then return now, 0, 0, '' end
  local last, blockedUntil, sum = struct.unpack('>ddH', state)
  if last > now or blockedUntil - now > block then return now, 0, 0, '' end
  return last, blockedUntil, sum, string.sub(state, ${HEADER_BYTES + 1})
end

local function write(key, blockedUntil, sum, ring, lifeMs)
  redis.call('SET', key, struct.pack('>ddH', now, blockedUntil, sum) .. ring, 'PX', lifeMs)
end

for at, key in ipairs(KEYS) do
  local max = tonumber(ARGV[2 * at - 1])
  local blockMs = tonumber(ARGV[2 * at])
  local last, blockedUntil, sum, ring = read(key, blockMs * 1000)
  local left = math.max(0, blockedUntil - now)
  if left == 0 and isCounting then
    local passed = slice - math.floor(last / ${SLICE_US})
    if passed >= ${WINDOW_SLICES} then
      sum = 0
      ring = ''
    elseif passed > 0 then
      local kept = 2 * (${WINDOW_SLICES} - passed)
      for byte = kept + 1, #ring, 2 do sum = sum - struct.unpack('>H', ring, byte) end
      ring = string.rep('\\0', 2 * passed) .. string.sub(ring, 1, kept)
    end
    if sum >= max then
      left = blockMs * 1000
      write(key, now + left, 0, '', blockMs)
    else
      local newest = 0
      if #ring > 0 then newest = struct.unpack('>H', ring) end
      write(key, 0, sum + 1, struct.pack('>H', newest + 1) .. string.sub(ring, 3), ${WINDOW_MS})
    end
  end
  if left > 0 then
    isRefused = true
    if at == 1 then isCounting = false end
  end
  lefts[at] = left
end
if isRefused then return lefts end
return 0`;
}
