-- Writes what became of an attempt if it still holds the record, or if no record is there. A
-- completed record does not change.
--
-- KEYS[1]  the operation
-- ARGV[1]  the whole new record; its attempt and token (bytes 3 to 26) are the owner's
-- ARGV[2]  life of the record in ms
-- Replies  "D" done | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local record = redis.call('GET', KEYS[1])
if not record then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 'D'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
local state = string.byte(record, 2)
if string.sub(record, 3, 26) == string.sub(ARGV[1], 3, 26) then
  if state == 82 or state == 85 then
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 'D'
  end
  if state == 67 or state == 78 then
    return 'D'
  end
end
if state == 82 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
end
return record
