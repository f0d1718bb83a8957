-- Takes the operation if it has no record, or says what is there; what is there and overdue is in
-- the index then, whoever wrote it.
--
-- KEYS[1]  the operation
-- KEYS[2]  the index of operations that are not finished
-- ARGV[1]  head of a reservation: format, state "R", attempt, token (26 bytes)
-- ARGV[2]  tail of a reservation: fingerprint version and hash, status 0, marks (43 bytes), note
-- ARGV[3]  lease in ms
-- ARGV[4]  life of the record in ms
-- Replies  "A" acquired | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reserved = ARGV[1] .. struct.pack('>I8', now + ARGV[3]) .. ARGV[2]
local record = redis.call('SET', KEYS[1], reserved, 'NX', 'GET', 'PX', ARGV[4])
if not record then
  redis.call('ZADD', KEYS[2], now + ARGV[3], KEYS[1])
  return 'A'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
local state = string.byte(record, 2)
if state ~= 82 then
  if state == 85 then
    -- One that a gateway without an index wrote is overdue from now on.
    redis.call('ZADD', KEYS[2], 'NX', now, KEYS[1])
  end
  return record
end
if string.sub(record, 3, 26) == string.sub(ARGV[1], 3) then
  redis.call('SET', KEYS[1], reserved, 'PX', ARGV[4])
  redis.call('ZADD', KEYS[2], now + ARGV[3], KEYS[1])
  return 'A'
end
local lease = struct.unpack('>I8', record, 27)
if lease <= now then
  -- The same goes for one whose owner died there.
  redis.call('ZADD', KEYS[2], 'NX', lease, KEYS[1])
end
return 'L' .. struct.pack('>I8', math.max(0, lease - now)) .. record
