-- Resolves an operation whose outcome is unknown, by its owner's word or by a lease that ran out,
-- for somebody who is not its owner; keeps an account of that; and says so on the channel.
--
-- KEYS[1]  the operation
-- KEYS[2]  the index of operations that are not finished
-- KEYS[3]  its history: a list of entries, the latest last
-- ARGV[1]  "C" complete, "D" delete (release), "U" mark unknown, "E" extend
-- ARGV[2]  the attempt (8 bytes)
-- ARGV[3]  a token of this resolution's own (16 bytes)
-- ARGV[4]  the token of the record that is meant (16 bytes); empty where only the attempt is known
-- ARGV[5]  C: status and response, as in the record
-- ARGV[6]  the rest of the entry: who and why
-- ARGV[7]  the channel
-- ARGV[8]  life of the record in ms
-- Replies  "D" done | "G" no record | record | "L", ms of lease left (8 bytes), record
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
local own = string.sub(record, 3, 10) == ARGV[2]
if own and state ~= 82 and string.sub(record, 11, 26) == ARGV[3] then
  return 'D'
end
local latest = redis.call('LINDEX', KEYS[3], -1)
if own and latest and string.sub(latest, 1, 16) == ARGV[3] then
  return 'D'
end
own = own and (ARGV[4] == '' or string.sub(record, 11, 26) == ARGV[4])
local left = 0
if state == 82 then
  left = math.max(0, struct.unpack('>I8', record, 27) - now)
end
if not own or not (state == 85 or (state == 82 and left == 0)) then
  if state == 82 then
    return 'L' .. struct.pack('>I8', left) .. record
  end
  return record
end
if ARGV[1] == 'U' and state == 85 then
  return 'D'
end
-- What of the record stays: since when, the fingerprint's marks, the fingerprint, the note.
local since = now
local marks = string.sub(record, 27, 34)
local note = string.sub(record, 70)
if state == 82 then
  since = struct.unpack('>I8', record, 27)
  marks = #record >= 77 and string.sub(record, 70, 77) or string.rep('\0', 8)
  note = string.sub(record, 78)
end
local print = string.sub(record, 35, 67)
if ARGV[1] == 'C' then
  local completed = string.char(1) .. 'C' .. ARGV[2] .. ARGV[3] .. marks .. print .. ARGV[5]
  redis.call('SET', KEYS[1], completed, 'PX', ARGV[8])
  redis.call('ZREM', KEYS[2], KEYS[1])
elseif ARGV[1] == 'D' then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], KEYS[1])
else
  -- Its former owner stays the holder: should its response come after all, that is the outcome.
  local unknown = string.char(1) .. 'U' .. string.sub(record, 3, 26) .. marks .. print .. '\0\0' .. note
  if ARGV[1] == 'E' then
    redis.call('SET', KEYS[1], unknown, 'PX', ARGV[8])
  else
    redis.call('SET', KEYS[1], unknown, 'KEEPTTL')
  end
  redis.call('ZADD', KEYS[2], 'NX', since, KEYS[1])
end
redis.call('RPUSH', KEYS[3], ARGV[3] .. struct.pack('>I8', now) .. ARGV[1] .. ARGV[2] .. ARGV[6])
redis.call('LTRIM', KEYS[3], -32, -1)
local life = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[3]))
redis.call('PEXPIRE', KEYS[3], math.max(tonumber(ARGV[8]), life))
-- What is written stays written, whoever may not publish.
redis.pcall('PUBLISH', ARGV[7], KEYS[1])
return 'D'
