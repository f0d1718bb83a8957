-- Says for how long this server has surely kept what it was told: since it was first seen with its
-- run id beside this data. Another run id, or no marker, means that the server was restarted, took
-- another's place or was emptied, and may have forgotten records.
--
-- KEYS[1]  the marker
-- ARGV[1]  the server's run id; empty where it does not tell, then only the marker counts
-- Replies  milliseconds
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local marker = redis.call('GET', KEYS[1])
if marker and #marker >= 8 then
  local id = string.sub(marker, 9)
  if id == ARGV[1] or ARGV[1] == '' then
    return math.max(0, now - struct.unpack('>I8', marker))
  end
end
redis.call('SET', KEYS[1], struct.pack('>I8', now) .. ARGV[1])
return 0
