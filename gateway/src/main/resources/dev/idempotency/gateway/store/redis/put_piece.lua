-- Writes a piece of a response.
--
-- KEYS[1]  the piece
-- ARGV[1]  its value
-- ARGV[2]  its life in ms
-- Replies  "D" done
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 'D'
