"""The words of programs, one file for each family of them; `hansei.projection.failures.lookup` finds them."""
