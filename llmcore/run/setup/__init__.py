"""The caller's input as the checked settings of one run."""
