"""What several commands share, and the long parts of some."""
