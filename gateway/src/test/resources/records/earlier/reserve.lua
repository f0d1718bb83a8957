-- Takes the operation if it has no record, or says what is there.
--
-- KEYS[1]  the operation
-- ARGV[1]  head of a reservation: format, state "R", attempt, token (26 bytes)
-- ARGV[2]  tail of a reservation: fingerprint version and hash, status 0, marks (43 bytes)
-- ARGV[3]  lease in ms
-- ARGV[4]  life of the record in ms
-- Replies  "A" acquired | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reserved = ARGV[1] .. struct.pack('>I8', now + ARGV[3]) .. ARGV[2]
local record = redis.call('SET', KEYS[1], reserved, 'NX', 'GET', 'PX', ARGV[4])
if not record then
  return 'A'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
if string.byte(record, 2) ~= 82 then
  return record
end
if string.sub(record, 3, 26) == string.sub(ARGV[1], 3) then
  redis.call('SET', KEYS[1], reserved, 'PX', ARGV[4])
  return 'A'
end
return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
