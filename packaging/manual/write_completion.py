#!/usr/bin/env python3
"""Writes the completions of `gyre` for bash, zsh and fish: write_completion.py PROGRAM FOLDER

They come from the help of the program: bash/gyre, zsh/_gyre and fish/gyre.fish in the folder.
"""

import sys
from pathlib import Path

import command_help


def quoted(text):
    """For all three shells."""
    return "'" + text.replace("'", "'\\''") + "'"


def takes_directory(command):
    return any(each.rule == "DIR" for each in command.positionals)


# ---- bash

BASH = """# bash completion for gyre
_gyre_offer() {{ mapfile -t COMPREPLY < <(compgen "$@" -- "${{COMP_WORDS[COMP_CWORD]}}"); }}
_gyre() {{
  local before=${{COMP_WORDS[COMP_CWORD-1]}} command='' each
  COMPREPLY=()  # where it stays empty, bash offers files
  for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $each == -* ]] || {{ command=$each; break; }}
  done
  case "$command $before" in
{values}
  esac
  case "$command" in
{commands}
  esac
}}
complete -o default -F _gyre gyre
"""


def bash_values(command, name):
    """The branches for the words behind an option that takes a value."""
    for option in command.options:
        if not option.type:
            continue
        pattern = " | ".join(quoted(f"{name} {each}") for each in option.names)
        if option.choices:
            action = f"_gyre_offer -W {quoted(' '.join(option.choices))}; "
        elif option.rule == "DIR":
            action = "compopt -o filenames; _gyre_offer -d; "
        else:
            action = ""
        yield f"    {pattern}) {action}return ;;"


def bash_words(command, name):
    names = " ".join(each for option in command.options for each in option.names)
    words = f"_gyre_offer -W {quoted(' '.join([names, *command.commands]))}"
    if takes_directory(command):
        words = (f"if [[ ${{COMP_WORDS[COMP_CWORD]}} == -* ]]; then {words}; "
                 "else compopt -o filenames; _gyre_offer -d; fi")
    return f"    {quoted(name)}) {words} ;;"


def bash(commands):
    named = [(each, each.words[1] if len(each.words) > 1 else "") for each in commands]
    return BASH.format(values="\n".join(line for each in named for line in bash_values(*each)),
                       commands="\n".join(bash_words(*each) for each in named))


# ---- zsh

ZSH = """#compdef gyre
_gyre() {{
  local line state
  _arguments -C {options} ': :->command' '*:: :->arguments'
  case $state in
    command)
      local -a commands=({commands})
      _describe command commands ;;
    arguments)
      case $line[1] in
{branches}
      esac ;;
  esac
}}
if [ "$funcstack[1]" = _gyre ]; then _gyre "$@"; else compdef _gyre gyre; fi
"""


def zsh_action(option):
    if option.choices:
        return f"({' '.join(option.choices)})"
    return "_files -/" if option.rule == "DIR" else "_files" if option.type == "TEXT" else ""


def zsh_options(command):
    """The specifications of _arguments."""
    for option in command.options:
        what = option.what.replace("\\", "\\\\").replace("[", r"\[").replace("]", r"\]").replace(":", r"\:")
        several = "*" if option.repeated else ""
        others = "" if option.repeated else f"({' '.join(option.names)})"
        value = f":{option.placeholder.lower()}:{zsh_action(option)}" if option.type else ""
        for name in option.names:
            yield quoted(f"{others}{several}{name}[{what}]{value}")


def zsh(commands):
    whole, *others = commands
    branches = []
    for each in others:
        positionals = [quoted(f"{'*' if one.repeated else ''}:{one.names[0].lower()}:{zsh_action(one)}")
                       for one in each.positionals]
        branches.append(f"        {each.words[1]}) _arguments {' '.join([*zsh_options(each), *positionals])} ;;")
    described = " ".join(quoted(f"{name}:{what}") for name, what in whole.commands.items())
    return ZSH.format(options=" ".join(zsh_options(whole)), commands=described, branches="\n".join(branches))


# ---- fish

def fish_quoted(text):
    """fish has its own rule for quotes inside of quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(option, condition):
    line = f"complete -c gyre -n {quoted(condition)}"
    for name in option.names:
        line += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if option.choices:
        line += f" -x -a {quoted(' '.join(option.choices))}"
    elif option.rule == "DIR":
        line += " -x -a '(__fish_complete_directories)'"
    elif option.type:
        line += " -rF" if option.type == "TEXT" else " -x"
    return f"{line} -d {fish_quoted(option.what)}"


def fish(commands):
    whole, *others = commands
    yield "# fish completion for gyre"
    yield "complete -c gyre -f"
    for name, what in whole.commands.items():
        yield f"complete -c gyre -n __fish_use_subcommand -a {name} -d {fish_quoted(what)}"
    for option in whole.options:
        yield fish_option(option, "__fish_use_subcommand")
    for each in others:
        condition = f"__fish_seen_subcommand_from {each.words[1]}"
        for option in each.options:
            yield fish_option(option, condition)
        if takes_directory(each):
            yield f"complete -c gyre -n {quoted(condition)} -a '(__fish_complete_directories)'"


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    commands = command_help.read(program)
    for name, text in (("bash/gyre", bash(commands)), ("zsh/_gyre", zsh(commands)),
                       ("fish/gyre.fish", "\n".join(fish(commands)) + "\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
