"""Who is told what a run does: observers, logs, statistics, recordings."""
