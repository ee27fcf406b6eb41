"""`python -m rocscope`, where the folder of commands is not on the path."""

from rocscope.cli import main

if __name__ == "__main__":
    main()
