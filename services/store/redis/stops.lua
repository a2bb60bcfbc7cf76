-- One change of one shelf of stops: all of it or nothing.
--
-- KEYS  1 token of the shelf's last change: 16 bytes    2 its stops, by name: a hash    3 its audit: a stream
--       4 request record, only if there is one
-- ARGV  1 token that the shelf must have, '' for none yet    2 token of this change    3 audit record or ''
--       4 its id    5 audit entries to keep    6 request record or ''    7 how long it is kept, ms
--       8 how many stops are put, then name and record of each, then the names of those that go
-- gives {code[, record]}: 0 done, also if it was done before · 1 another change came first ·
--       2 the request was done before, its record
--
-- What was done before is written again: only what this connection wrote is waited for at replicas.
local K, A, call = KEYS, ARGV, redis.call
if A[6] ~= '' then
  local done = call('GET', K[4])
  if done then
    call('SET', K[4], done, 'KEEPTTL')
    return {2, done}
  end
end
local current = call('GET', K[1]) or ''
if current == A[2] then
  call('SET', K[1], current)
  return {0}
end
if current ~= A[1] then return {1} end

-- What can fail comes first, because nothing is rolled back: an entry that has a later one before it.
if A[3] ~= '' then call('XADD', K[3], 'MAXLEN', A[5], A[4], 'r', A[3]) end
call('SET', K[1], A[2])
local put = tonumber(A[8])
for i = 9, 7 + 2 * put, 2 do call('HSET', K[2], A[i], A[i + 1]) end
for i = 9 + 2 * put, #A do call('HDEL', K[2], A[i]) end
if A[6] ~= '' then call('SET', K[4], A[6], 'PX', A[7]) end
return {0}
