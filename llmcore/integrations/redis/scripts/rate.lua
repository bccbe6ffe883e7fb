-- Counts a request by the generic cell rate algorithm. Returns 0, or the microseconds until the request may come.
-- KEYS: when the allowance is whole again. ARGV: microseconds of one request, microseconds of the whole allowance.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + ARGV[1]
local wait = full - now - ARGV[2]
if wait > 0 then return wait end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0
