-- Writes what became of an attempt if it still holds the record, or if no record is there, and says
-- so on the channel. A completed record does not change.
--
-- KEYS[1]  the operation
-- KEYS[2]  the index of operations that are not finished
-- ARGV[1]  the whole new record; its attempt and token (bytes 3 to 26) are the owner's
-- ARGV[2]  the channel
-- ARGV[3]  life of the record in ms
-- Replies  "D" done | record | "L", ms of lease left (8 bytes), record | "X" no record of ours
local record = redis.call('GET', KEYS[1])
local state = 0
if record then
  if #record < 69 or string.byte(record) ~= 1 then
    return 'X'
  end
  state = string.byte(record, 2)
end
local own = record and string.sub(record, 3, 26) == string.sub(ARGV[1], 3, 26)
if not record or (own and (state == 82 or state == 85)) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
  if string.byte(ARGV[1], 2) == 85 then
    local time = redis.call('TIME')
    redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), KEYS[1])
  else
    redis.call('ZREM', KEYS[2], KEYS[1])
  end
  -- What is written stays written, whoever may not publish.
  redis.pcall('PUBLISH', ARGV[2], KEYS[1])
  return 'D'
end
if own and (state == 67 or state == 78) then
  return 'D'
end
if state == 82 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  return 'L' .. struct.pack('>I8', math.max(0, struct.unpack('>I8', record, 27) - now)) .. record
end
return record
