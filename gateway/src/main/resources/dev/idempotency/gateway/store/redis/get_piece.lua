-- Reads a piece of a response.
--
-- KEYS[1]  the piece
-- Replies  nil no such piece | its value
return redis.call('GET', KEYS[1])
