"""Folder on ``sys.path`` while the alias is installed, for processes that this one spawns."""
