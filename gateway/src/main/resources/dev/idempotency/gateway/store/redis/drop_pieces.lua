-- Removes pieces of a response that no record names.
--
-- KEYS     the pieces
-- Replies  "D" done
for _, piece in ipairs(KEYS) do
  redis.call('UNLINK', piece)
end
return 'D'
