"""PyInstaller's hook: modules that are loaded by name, and the files that they read, go into the bundle."""


def hook_dirs() -> list[str]:
    """Return the folders of hooks; named in the entry points of the package."""
    return list(__path__)
