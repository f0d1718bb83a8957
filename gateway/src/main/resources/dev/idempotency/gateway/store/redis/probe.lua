-- Asks, without an effect, whether this server takes writes: a replica, a server that is loading
-- and one that cannot save refuse the command, and so does one whose user lacks the rights that
-- came with the index: better here than in the middle of a script.
--
-- KEYS[1]  a name under the prefix that no operation has
-- Replies  "D" done
redis.call('ZREM', KEYS[1], '')
redis.call('DEL', KEYS[1])
return 'D'
