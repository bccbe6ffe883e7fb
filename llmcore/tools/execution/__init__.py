"""Running tool calls: time limits, retries, threads, parallel calls."""
