"""From the value that a tool returned to the text and images that the model receives."""
