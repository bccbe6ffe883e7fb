-- Reserves an amount of a budget. Returns {1 or 0, spent, reserved}, in micro-dollars.
-- KEYS: the totals, the ends of the holds, the amounts of the holds, the ends of the settled ids.
-- ARGV: the id of the hold, the amount, the limit, the milliseconds after which the hold ends.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do -- holds of processes that ended
    redis.call('HINCRBY', KEYS[1], 'reserved', -(redis.call('HGET', KEYS[3], id) or 0))
    redis.call('HDEL', KEYS[3], id)
    redis.call('ZREM', KEYS[2], id)
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
local spent = tonumber(redis.call('HGET', KEYS[1], 'spent') or 0)
local reserved = tonumber(redis.call('HGET', KEYS[1], 'reserved') or 0)
if spent + reserved + tonumber(ARGV[2]) > tonumber(ARGV[3]) then return {0, spent, reserved} end
redis.call('HINCRBY', KEYS[1], 'reserved', ARGV[2])
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return {1, spent, reserved + ARGV[2]}
