"""What several formats have in common; no file here is about one agent's folders or sessions."""
