"""The compiler's commands that CMake writes down, for tools that read sources."""
import json
import pathlib
import shlex


def entries(build, folders):
    """Those of BUILD/compile_commands.json for the files below one of `folders`."""
    inside = [str(pathlib.Path(folder).resolve()) + "/" for folder in folders]
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    return [e for e in commands if any(e["file"].startswith(folder) for folder in inside)]


def words(entry):
    """The command without its output."""
    command = shlex.split(entry["command"])
    at = command.index("-o")
    return command[:at] + command[at + 2:]
