"""The only writer of other people's instruction files.

Everything hansei writes into such a file stands in one marked block, or is a file of its own. A
change is first a plan that can be shown, then a line in the journal, then a write, and it can be
undone byte for byte. What a person edits is theirs from then on.

1. `targets`: which files there are and which one to take; `sizes`: what a text costs.
2. `block`: a file as text, block and text; `edits`: the block with one item more or less. Pure.
3. `plans`: what would change, with the difference; `disk`: reading and replacing files.
4. `carrying`: the plan carried out and undone; `commits`: exactly those files, in git.
"""
