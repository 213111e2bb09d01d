"""The guided tour: `steps` is the story, `guide` tells it, `ground` is the folder it happens in."""
