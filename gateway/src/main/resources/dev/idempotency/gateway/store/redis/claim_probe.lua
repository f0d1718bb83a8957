-- Gives one caller at a time the right to probe an attempt. The claim lives as long as the record.
--
-- KEYS[1]  the operation
-- KEYS[2]  its claim: attempt and token of the record (24 bytes), until when in ms (8), how many
--          there were (4)
-- KEYS[3]  the index of operations that are not finished
-- ARGV[1]  the attempt (8 bytes), and behind it the token of its record (16 bytes) where that is
--          known
-- ARGV[2]  for how long after the first probe, in ms; doubled with each further one
-- ARGV[3]  the most that it is doubled to
-- Replies  "B", ms until it may be claimed (8 bytes), 0 where the record is not the one meant |
--          "C", the record's token (16 bytes), how many claims there were before (4), for how many
--          ms it has been overdue (8)
-- The first B also stands for an operation that is finished.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('GETRANGE', KEYS[1], 1, 25)
local state = string.sub(head, 1, 1)
local owner = string.sub(head, 2)
if string.sub(owner, 1, #ARGV[1]) ~= ARGV[1] or (state ~= 'R' and state ~= 'U') then
  return 'B' .. struct.pack('>I8', 0)
end
local tries = 0
local claim = redis.call('GET', KEYS[2])
if claim and string.sub(claim, 1, 24) == owner then
  local left = struct.unpack('>I8', claim, 25) - now
  if left > 0 then
    return 'B' .. struct.pack('>I8', left)
  end
  tries = struct.unpack('>I4', claim, 33)
end
local life = redis.call('PTTL', KEYS[1])
local hold = math.min(ARGV[2] * 2 ^ math.min(tries, 20), tonumber(ARGV[3]))
claim = owner .. struct.pack('>I8I4', now + math.max(1, hold), tries + 1)
if life > 0 then
  redis.call('SET', KEYS[2], claim, 'PX', life)
end
-- One that a gateway without an index wrote is overdue from now on.
local since = redis.call('ZSCORE', KEYS[3], KEYS[1])
if not since then
  since = now
  redis.call('ZADD', KEYS[3], 'NX', now, KEYS[1])
end
return 'C' .. string.sub(owner, 9) .. struct.pack('>I4I8', tries, math.max(0, now - since))
