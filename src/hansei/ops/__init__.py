"""The verbs: one plain function each, the same for every front end."""
