"""The agent's own door: what people ask on the command line, asked by an agent while it works.

One file per tool in `tools`; each only translates between the protocol and a function of `ops`.
Every answer is bounded, carries our marker, and quotes what earlier sessions said as evidence.
"""
