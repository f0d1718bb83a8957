-- Reads the history of an operation.
--
-- KEYS[1]  the history
-- Replies  for each entry, oldest first: its length (4 bytes), the entry: token (16 bytes), time in
--          ms (8), what (1), attempt (8), who and why
local entries = redis.call('LRANGE', KEYS[1], 0, -1)
for i, entry in ipairs(entries) do
  entries[i] = struct.pack('>I4', #entry) .. entry
end
return table.concat(entries)
