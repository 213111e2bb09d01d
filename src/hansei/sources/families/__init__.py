"""What several formats have in common; nothing here knows any one agent."""
