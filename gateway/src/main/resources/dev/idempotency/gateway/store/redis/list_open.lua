-- A page of an index of operations that are not finished, in the order of the index.
--
-- KEYS[1]  the index
-- ARGV[1]  the name that the page before ended with; empty at the first
-- ARGV[2]  least ms that they have been overdue; a negative number takes all
-- ARGV[3]  the score that the page before ended with; 0 at the first
-- ARGV[4]  most entries
-- Replies  Redis's time in ms (8 bytes), then for each: score (8 bytes), length of the name (2
--          bytes), name
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local least = tonumber(ARGV[2])
local from = tonumber(ARGV[3])
local most = tonumber(ARGV[4])
local last = least < 0 and '+inf' or now - least
local page = {struct.pack('>I8', now)}
local offset = 0
while #page <= most do
  local found = redis.call(
    'ZRANGEBYSCORE', KEYS[1], ARGV[3], last, 'WITHSCORES', 'LIMIT', offset, most + 1)
  for i = 1, #found, 2 do
    -- Entries of one score are in the order of their names.
    if #page <= most and (tonumber(found[i + 1]) > from or found[i] > ARGV[1]) then
      page[#page + 1] = struct.pack('>I8I2', found[i + 1], #found[i]) .. found[i]
    end
  end
  offset = offset + most + 1
  if #found <= 2 * most then
    break
  end
end
return table.concat(page)
