"""The local page of `llmcore play`: `page.html` sends a reply and tools to `app`, and `views` reads them."""
