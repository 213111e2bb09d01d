"""Facts kept as tables: what the folds found in each session, ready to be asked over many.

`folds` says what is worked out of a session and in which order, `tables` how a row type becomes a
table, `keeping` which sessions are due and where their rows go. A session is worked out anew as a
whole when its log changed, so refreshing and rebuilding give the same rows.
"""
