"""python -m loom_ray.cli"""

from loom_ray.cli import main

if __name__ == "__main__":
    main()
