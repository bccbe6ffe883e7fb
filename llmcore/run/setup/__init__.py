"""What a caller gave, as the checked settings of one run."""
