-- Lets the lease of a reservation run anew for its owner; writes a record that is no longer there.
-- A fingerprint that is open (version 0) leaves the one that is there.
--
-- KEYS[1]  the operation
-- ARGV[1]  head of a reservation: format, state "R", attempt, token (26 bytes)
-- ARGV[2]  tail of a reservation: fingerprint version and hash, status 0, marks (43 bytes)
-- ARGV[3]  lease in ms
-- ARGV[4]  life of the record in ms
-- Replies  "D" done | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local record = redis.call('GET', KEYS[1])
if record and (#record < 69 or string.byte(record) ~= 1) then
  return 'X'
end
local reserved = record and string.byte(record, 2) == 82
if not record or (reserved and string.sub(record, 3, 26) == string.sub(ARGV[1], 3)) then
  local tail = ARGV[2]
  if record and string.byte(tail) == 0 then
    tail = string.sub(record, 35)
  end
  local renewed = ARGV[1] .. struct.pack('>I8', now + ARGV[3]) .. tail
  redis.call('SET', KEYS[1], renewed, 'PX', ARGV[4])
  return 'D'
end
if reserved then
  return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
end
return record
