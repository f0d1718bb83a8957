-- Reads the record.
--
-- KEYS[1]  the operation
-- Replies  "G" no record | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local record = redis.call('GET', KEYS[1])
if not record then
  return 'G'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
if string.byte(record, 2) == 82 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
end
return record
