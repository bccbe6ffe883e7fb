"""One request and its reply; the small requests of a probe; what is loaded before the first request."""
