-- Removes an operation from the index whose record is gone or finished: its retention ended, or a
-- gateway that knows of no index wrote it.
--
-- KEYS[1]  the operation
-- KEYS[2]  the index of operations that are not finished
-- Replies  "D" done
local state = redis.call('GETRANGE', KEYS[1], 1, 1)
if state ~= 'R' and state ~= 'U' then
  redis.call('ZREM', KEYS[2], KEYS[1])
end
return 'D'
