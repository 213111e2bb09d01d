"""The words of programs, one file for each family of them."""
