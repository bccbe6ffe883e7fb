"""What several runs share: protocols, and their implementations within one process."""
