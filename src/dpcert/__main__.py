"""python -m dpcert: the same as the dpcert command."""

from .cli import main

if __name__ == "__main__":
    main()
