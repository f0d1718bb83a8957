-- Takes over an operation whose outcome is unknown, by its owner's word or by a lease that ran
-- out, if its attempt is the one before, its token the one that was seen and its fingerprint the
-- same, or open (version 0); otherwise says what is there.
--
-- KEYS[1]  the operation
-- KEYS[2]  the index of operations that are not finished
-- ARGV[1]  head of a reservation: format, state "R", attempt, token (26 bytes)
-- ARGV[2]  tail of a reservation: fingerprint version and hash, status 0, marks (43 bytes), note
-- ARGV[3]  the attempt before (8 bytes), and behind it the token of its record (16 bytes) where that
--          is known
-- ARGV[4]  lease in ms
-- ARGV[5]  life of the record in ms
-- Replies  "A" acquired | "G" no record | record | "L", ms of lease left (8 bytes), record
--          | "X" no record of ours
local record = redis.call('GET', KEYS[1])
if not record then
  return 'G'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = string.byte(record, 2)
local left = 0
if state == 82 then
  left = math.max(0, struct.unpack('>I8', record, 27) - now)
end
local own = state == 82 and string.sub(record, 3, 26) == string.sub(ARGV[1], 3)
local free = (state == 85 or (state == 82 and left == 0))
  and string.sub(record, 3, 2 + #ARGV[3]) == ARGV[3]
  and (string.byte(record, 35) == 0 or string.sub(record, 35, 67) == string.sub(ARGV[2], 1, 33))
if own or free then
  local reserved = ARGV[1] .. struct.pack('>I8', now + ARGV[4]) .. ARGV[2]
  redis.call('SET', KEYS[1], reserved, 'PX', ARGV[5])
  redis.call('ZADD', KEYS[2], now + ARGV[4], KEYS[1])
  return 'A'
end
if state == 82 then
  return 'L' .. struct.pack('>I8', left) .. record
end
return record
