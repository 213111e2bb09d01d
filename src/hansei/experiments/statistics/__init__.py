"""Evidence about two arms: pure functions on arrays, the only place that needs numpy.

`verdict` puts the words on it. Two kinds of evidence stand below: `recurrence` and `means` bet on a
coin that was really thrown; `periods` compares weeks where nobody threw one.
"""
