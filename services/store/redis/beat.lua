-- One sign of life of one shard. If the last one is too long ago the service was away for the shard, and that is noted.
--
-- KEYS  1 signs of life of the shard: `at`, the last one in ms, and `out`, outages as "from-to;"
-- ARGV  1 silence that counts as an outage, ms    2 how long outages are kept, ms
-- gives {time in µs, outages}
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local last = redis.call('HMGET', KEYS[1], 'at', 'out')
local at, out = tonumber(last[1] or now), last[2] or ''
local change = {}
if now - at > tonumber(ARGV[1]) then
  local kept = {}
  for from, to in string.gmatch(out, '(%d+)-(%d+);') do
    if now - to < tonumber(ARGV[2]) then kept[#kept + 1] = from .. '-' .. to .. ';' end
  end
  kept[#kept + 1] = string.format('%.0f-%.0f;', at, now)
  out = table.concat(kept)
  change = {'out', out}
end
-- The others' signs count too: half a second is fresh enough.
if now - at > 500 or not last[1] then
  redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now), unpack(change))
end
return {t[1] * 1000000 + t[2], out}
