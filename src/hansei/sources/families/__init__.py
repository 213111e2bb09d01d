"""What several agents' formats have in common; nothing here knows any one agent."""
