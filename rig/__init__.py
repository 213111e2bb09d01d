"""Real agents on a scripted model: does hansei see what really happened? See docs/rig.md."""
