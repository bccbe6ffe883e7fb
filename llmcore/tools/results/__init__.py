"""From the value that a tool returned to the text and media that the model receives."""
