"""What several test packages and the recording scripts share."""
