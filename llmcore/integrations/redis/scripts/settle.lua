-- Replaces a hold by the amount that was spent. Returns 1, or 0 if the hold was settled before.
-- A hold that is unknown here was made while the server was lost, or has ended: its amount was spent all the same.
-- KEYS: as in reserve.lua. ARGV: the id of the hold, the amount, the milliseconds for which the id is remembered.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZADD', KEYS[4], 'NX', now + ARGV[3], ARGV[1]) == 0 then return 0 end
local amount = redis.call('HGET', KEYS[3], ARGV[1])
if amount then
    redis.call('HINCRBY', KEYS[1], 'reserved', -amount)
    redis.call('HDEL', KEYS[3], ARGV[1])
    redis.call('ZREM', KEYS[2], ARGV[1])
end
redis.call('HINCRBY', KEYS[1], 'spent', ARGV[2])
return 1
