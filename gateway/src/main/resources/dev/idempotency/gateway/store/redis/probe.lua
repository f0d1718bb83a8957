-- Asks, without an effect, whether this server takes writes: a replica, a server that is loading
-- and one that cannot save refuse the command.
--
-- KEYS[1]  a name under the prefix that no operation has
-- Replies  "D" done
redis.call('DEL', KEYS[1])
return 'D'
