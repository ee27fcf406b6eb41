"""Functions of other libraries, with their signatures and results, computed here."""
