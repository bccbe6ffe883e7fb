"""What a caller gave, read and checked: arguments, headers, messages."""
