"""Compute the tables of both papers: python examples/papers --data FOLDER."""

import lachiche_flach_2003
import vuk_curk_2006
from running import options

if __name__ == "__main__":
    arguments = options(__doc__, tree=vuk_curk_2006.TREES, bayes=vuk_curk_2006.BAYES)
    vuk_curk_2006.main(arguments)
    print()
    lachiche_flach_2003.main(arguments)
