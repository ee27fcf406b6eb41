"""Run the command line as `python -m rocscope`."""

from rocscope.cli import main

if __name__ == "__main__":
    main()
