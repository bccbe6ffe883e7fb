"""The models of an orchestrator, and which of them, in which output mode, is asked next."""
