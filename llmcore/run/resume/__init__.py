"""How a saved run goes on: its history, the answers to its open calls, its save points, who may resume it."""
