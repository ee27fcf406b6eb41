"""Other libraries' functions, with their signatures and results, computed here."""
