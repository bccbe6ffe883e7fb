-- Returns place and milliseconds left, again and again, of the cooldowns that are not over. KEYS: the ends of the cooldowns.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf', 'WITHSCORES')
for i = 2, #found, 2 do found[i] = found[i] - now end
return found
