"""What hooks and approvals change in a request, a reply or a call."""
