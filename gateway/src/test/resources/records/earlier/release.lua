-- Removes the record of an attempt that had no effect; nothing there is as good as done. A
-- completed record stays.
--
-- KEYS[1]  the operation
-- ARGV[1]  the owner's attempt and token (24 bytes)
-- Replies  "D" done | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local record = redis.call('GET', KEYS[1])
if not record then
  return 'D'
end
if #record < 69 or string.byte(record) ~= 1 then
  return 'X'
end
local state = string.byte(record, 2)
if (state == 82 or state == 85) and string.sub(record, 3, 26) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 'D'
end
if state == 82 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
end
return record
