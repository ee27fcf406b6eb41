"""Whether what a decision says of itself is so: counted anew, with nothing that is shared with what chooses."""
