-- One commit of one table: all of it or nothing.
--
-- KEYS  1 state: 16 bytes of token, then the record    2 events: one entry a commit, its id is "<version>-1"
--       3 calendar of the shard
--       then, only where the commit has to do with them, in this order:
--       outbox and its index (settlements, or an opening) · accounts and their names (accounts, or an opening) ·
--       tables of the operator (an opening) · request record
-- ARGV  1 token that the state must have, '' for an opening    2 token of this commit    3 state record
--       4 entry record    5 entry id    6 entries to keep    7 due in ms, '' for not at all    8 the table's name
--       9 not before, ms or ''    10 not after, ms or ''    11 channel or ''    12 '1' if the entry keeps the state too
--       13 request record or ''    14 how long it is kept, ms    15 number of settlements
--       16.. id and record of each settlement, then name, sum and increment of each step of an account
-- gives {code, time in µs[, record]}: 0 done · 1 another commit came first, the state or false, then the token of the
--       commit that has the expected one's version, if it is kept · 2 too early · 3 too late ·
--       4 the request was done before, its record · 5 this very commit was done before · 6 an account would be too large
--
-- A key that does not exist makes the script wait while its slot moves between machines of a cluster. So calendar,
-- outbox, accounts and what leads to them are made with the first table and never go, and play, which has no request
-- record, never waits.
local K, A, call = KEYS, ARGV, redis.call
local t = call('TIME')
local now = t[1] * 1000000 + t[2]
local opening = A[1] == ''
local steps = 16 + 2 * A[15]
local settles, counts = steps > 16, #A >= steps

local last = 3
local function key() last = last + 1 return K[last] end
local outbox, index, accounts, names, tables, request
if settles or opening then outbox = key() index = key() end
if counts or opening then accounts = key() names = key() end
if opening then tables = key() end
if A[13] ~= '' then request = key() end

local current = call('GETRANGE', K[1], 0, 15)
-- Sent twice because the first answer was lost: it is done.
if current == A[2] then return {5, now} end
if request then
  local done = call('GET', request)
  if done then return {4, now, done} end
end
if current ~= A[1] then
  local entry = call('XRANGE', K[2], A[5], A[5])[1]
  if entry and entry[2][2] == A[2] then return {5, now} end
  local kept = false
  if current ~= '' and A[1] ~= '' then
    local high, low = struct.unpack('>I4I4', A[1])
    local id = string.format('%.0f-1', high * 4294967296 + low)
    local expected = call('XRANGE', K[2], id, id)[1]
    kept = expected and expected[2][2] or false
  end
  return {1, now, call('GET', K[1]), kept}
end
if A[9] ~= '' and now < A[9] * 1000 then return {2, now} end
if A[10] ~= '' and now > A[10] * 1000 then return {3, now} end

-- What can fail comes first, because nothing is rolled back: Redis does not count beyond 2^63, and the limit is less.
for i = steps, #A, 3 do
  if (call('HGET', accounts, A[i] .. A[i + 1]) or 0) + A[i + 2] > 9e18 then return {6, now} end
end
if A[12] == '1' then
  call('XADD', K[2], 'MAXLEN', '~', A[6], A[5], 't', A[2], 'e', A[4], 's', A[3])
else
  call('XADD', K[2], 'MAXLEN', '~', A[6], A[5], 't', A[2], 'e', A[4])
end
call('SET', K[1], A[2] .. A[3])
if opening then
  call('ZADD', K[3], 'NX', 'inf', '')
  call('ZADD', tables, 0, A[8])
  call('HSETNX', index, '', '')
  call('HSETNX', accounts, '', '')
  call('ZADD', names, 'NX', 0, '')
  if call('EXISTS', outbox) == 0 then
    call('XADD', outbox, '0-1', '', '')
    call('XDEL', outbox, '0-1')
  end
end
if A[7] == '' then call('ZREM', K[3], A[8]) else call('ZADD', K[3], A[7], A[8]) end
if settles then
  -- Records are numbered by time, so that the outboxes of all shards can be read as one. Each has its place in the
  -- sequence too, so that it need not be counted how many there are between two.
  local number, added = now, 0
  if call('EXISTS', outbox) == 1 then
    local info = call('XINFO', 'STREAM', outbox)
    for i = 1, #info, 2 do
      if info[i] == 'entries-added' then added = info[i + 1] end
      if info[i] == 'last-generated-id' then
        local newest = tonumber(string.match(info[i + 1], '^%d+'))
        if newest >= number then number = newest + 1 end
      end
    end
  end
  for i = 16, steps - 1, 2 do
    added = added + 1
    local place = string.format('%.0f', number)
    call('XADD', outbox, place .. '-1', 'r', A[i + 1], 'n', string.format('%.0f', added))
    call('HSET', index, A[i], place)
    number = number + 1
  end
end
for i = steps, #A, 3 do
  call('ZADD', names, 'NX', 0, A[i])
  call('HINCRBY', accounts, A[i] .. A[i + 1], A[i + 2])
end
if request then call('SET', request, A[13], 'PX', A[14]) end
if A[11] ~= '' then call('SPUBLISH', A[11], A[4]) end
return {0, now}
