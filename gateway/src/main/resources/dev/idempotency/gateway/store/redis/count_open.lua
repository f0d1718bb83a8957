-- How many operations of an index have been overdue for how long.
--
-- KEYS[1]  the index
-- ARGV     for each number: least ms that they have been overdue; a negative number counts all
-- Replies  the numbers (8 bytes each)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local counts = {}
for i, least in ipairs(ARGV) do
  local last = tonumber(least) < 0 and '+inf' or now - least
  counts[i] = struct.pack('>I8', redis.call('ZCOUNT', KEYS[1], '-inf', last))
end
return table.concat(counts)
