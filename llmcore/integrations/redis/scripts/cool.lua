-- Adds cooldowns. KEYS: the ends of the cooldowns. ARGV: place and milliseconds left, again and again; 0 ends a cooldown.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for i = 1, #ARGV, 2 do
    if tonumber(ARGV[i + 1]) > 0 then
        redis.call('ZADD', KEYS[1], 'GT', now + ARGV[i + 1], ARGV[i])
    else
        redis.call('ZREM', KEYS[1], ARGV[i])
    end
end
return 1
