"""How sure a choice is: made anew on parts of its rows and on rows drawn again, and judged where it was not made."""
