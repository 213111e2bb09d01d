"""Sessions as trees of entries, one line of JSON each: Pi, and the agents built on its engine.

Every entry names the one it follows, so a session that was taken back to an earlier point stays in
its file with all its branches. What an abandoned branch took was still paid for, so every entry is
read, in the order of the lines.

Entries are copied: into the file of a fork, into the file that follows a compaction, behind the
same entries when a part of them is rewritten. Ids of entries are made anew on the way, also when
a file of an early version is opened. What a message says of itself, its own time and its words,
stays; that is what an event is known by.

`lines.read` is the way in; a `reader.Dialect` says what one agent does in its own way.
"""
