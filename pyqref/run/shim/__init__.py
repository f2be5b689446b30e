"""On ``sys.path`` while the alias is installed, for the processes that this one spawns."""
