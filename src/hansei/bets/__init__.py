"""Bets: what to change, because of what, for how much, and how we will know.

A heuristic finds something that happens again and again and names every occurrence with what it
took. Everything else about a bet is counted from those: what it costs a week, how sure it is to
happen again, how it ranks.
"""
