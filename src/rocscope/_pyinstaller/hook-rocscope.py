"""Modules and files of rocscope that PyInstaller cannot see in import statements."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules  # pyright: ignore[reportMissingImports]

hiddenimports = collect_submodules("rocscope", filter=lambda name: "._pyinstaller" not in name)
datas = collect_data_files("rocscope")
