"""One budget for many groups: their hulls merged by what one more case of each is worth."""
