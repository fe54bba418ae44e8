#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many stored cases there are for each function and each part of the template language.

functions.py          rewrites docs/functions.md
functions.py check    prints what docs/functions.md would say differently and what has fewer cases than LEAST; exit 1

Counted are the templates of tests/data/template (*.test, functions.jsonl), whose answers come from Helm's engine.
"""
import json
import pathlib
import re
import sys

LEAST = 5  # cases of a function and of a part of the language
ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data/template"
TABLE = ROOT / "docs/functions.md"

BUILTINS = "and call eq ge gt html index js le len lt ne not or print printf println slice urlquery".split()
HELM = ("fail fromJson fromJsonArray fromToml fromYaml fromYamlArray getHostByName include lookup mustToJson mustToToml "
        "mustToYaml required toJson toToml toYaml toYamlPretty tpl").split()

# Each is looked for in the text of a template, or in the actions alone (A), or in the expected error (E).
LANGUAGE = [
    ("text without actions", "T", r"\A[^{]*\Z"),
    ("action", "A", r"\A"),
    ("left trim marker", "T", r"\{\{-\s"),
    ("right trim marker", "T", r"\s-\}\}"),
    ("comment", "T", r"\{\{(- )?/\*"),
    ("pipeline of several commands", "A", r"\|"),
    ("parenthesized pipeline", "A", r"\("),
    ("field of parentheses", "A", r"\)\."),
    ("dot", "A", r"(?<![\w.)\]\"'])\.(?![\w.])"),
    ("field", "A", r"(?<![\w.)\]])\.[A-Za-z_]"),
    ("chain of fields", "A", r"\.\w+\.\w+"),
    ("variable declared", "A", r"\$\w+\s*:="),
    ("variable assigned", "A", r"\$\w+\s*="),
    ("variable used", "A", r"\$\w+"),
    ("field of a variable", "A", r"\$\w+\.\w"),
    ("root variable $", "A", r"\$(?!\w)"),
    ("if", "A", r"\A\s*if\b"),
    ("else", "A", r"\A\s*else\s*\Z"),
    ("else if", "A", r"\A\s*else\s+if\b"),
    ("with", "A", r"\A\s*with\b"),
    ("else with", "A", r"\A\s*else\s+with\b"),
    ("range", "A", r"\A\s*range\b"),
    ("range with one variable", "A", r"\A\s*range\s+\$\w+\s*:="),
    ("range with two variables", "A", r"\A\s*range\s+\$\w+\s*,\s*\$\w+\s*:="),
    ("range that assigns", "A", r"\A\s*range\s+\$\w+(\s*,\s*\$\w+)?\s*="),
    ("range over an integer", "A", r"\A\s*range\s+(\$\w+\s*:=\s*)?(\d+|\(?int)"),
    ("break", "A", r"\A\s*break\s*\Z"),
    ("continue", "A", r"\A\s*continue\s*\Z"),
    ("define", "A", r"\A\s*define\b"),
    ("block", "A", r"\A\s*block\b"),
    ("template", "A", r"\A\s*template\b"),
    ("string", "A", r'"'),
    ("raw string", "A", r"`"),
    ("character constant", "A", r"'"),
    ("integer", "A", r"(?<![\w.$\"])[-+]?\d+(?![\w.])"),
    ("hexadecimal, octal, binary, with _", "A", r"(?<![\w.])0[xXoObB_]?[0-9a-fA-F_]+|\d_\d"),
    ("float", "A", r"(?<![\w.])\d*\.\d+|\d[eE][-+]?\d"),
    ("complex number", "A", r"(?<![\w\"%.])\d[\d.e+-]*i\b"),
    ("true, false", "A", r"\b(true|false)\b"),
    ("nil", "A", r"\bnil\b"),
    ("several lines in an action", "A", r"\n"),
    ("method call", "A", r"\.(Get|GetBytes|Glob|AsConfig|AsSecrets|Lines|Has|AsMap|YAML|Table|PathValue|Format|Compare)\b"),
    (".Values", "A", r"\.Values\b"),
    (".Release", "A", r"\.Release\b"),
    (".Chart", "A", r"\.Chart\b"),
    (".Files", "A", r"\.Files\b"),
    (".Capabilities", "A", r"\.Capabilities\b"),
    (".Template", "A", r"\.Template\b"),
    (".Subcharts", "A", r"\.Subcharts\b"),
    ("missing value", "A", r"\.(none|no|missing|nope|x|a\.b)\b"),
    ("parse error", "E", r"parse error at"),
    ("error with one location", "E", r"\A\S+:\d+:\d+\n  executing .*\n    [^\n]*\Z"),
    ("error of a function", "E", r"error calling"),
    ("error through include or template", "E", r"(?s)executing.*executing"),
    ("execution error of required and fail", "E", r"execution error at"),
    ("wrong number of arguments", "E", r"wrong number of args"),
    ("wrong type of an argument", "E", r"wrong type for value|invalid value; expected|expected \w+; found"),
    ("can't evaluate field", "E", r"can't evaluate field"),
    ("nil pointer", "E", r"nil pointer evaluating"),
] + [(f"printf %{verb}", "A", rf'"[^"]*%[-+# 0-9.*\[\]]*{verb}') for verb in "vTtbcdoOqxXUeEfFgGspw"] + [
    ("printf flags + - # blank 0", "A", r'"[^"]*%[-+# 0]+[0-9.*]*[a-zA-Z]'),
    ("printf width, precision", "A", r'"[^"]*%[-+# 0]*(\d+|\.\d+|\*)'),
    ("printf argument index", "A", r'"[^"]*%[-+# 0]*\[\d+\]'),
    ("printf mistakes: verb, missing, extra", "W", r"%!"),
]


def cases():
    """(template, expected text, expected error) of every case."""
    for line in (DATA / "functions.jsonl").read_text().splitlines()[1:]:
        case = json.loads(line)
        yield case["t"], case["out"], case.get("err", "")
    for path in sorted(DATA.glob("*.test")):
        for case in re.split(r"^=== ", path.read_text(errors="surrogateescape"), flags=re.M)[1:]:
            sections = re.split(r"^--- ", case, flags=re.M)[1:]
            named = [section.partition("\n")[::2] for section in sections]
            template = "\n".join(text for name, text in named if name == "template" or name.startswith("file templates/"))
            get = dict(named).get
            yield template.removesuffix("\n"), get("want", "").removesuffix("\n"), get("error", "").removesuffix("\n")


def actions(template):
    return re.findall(r"\{\{-?(.*?)-?\}\}", template, flags=re.S)


def names_of_helm():
    lines = (DATA / "function_names.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def count():
    names = BUILTINS + [n for n in names_of_helm() if n not in BUILTINS]
    functions, language = dict.fromkeys(names, 0), {name: 0 for name, _, _ in LANGUAGE}
    total = 0
    for template, want, error in cases():
        total += 1
        found = actions(template)
        bare = [re.sub(r'"(\\.|[^"\\])*"|`[^`]*`', '""', text) for text in found]
        for word in {w for text in bare + found for w in re.findall(r"(?<![\w.$])[a-zA-Z_]\w*", text)} & functions.keys():
            functions[word] += 1
        where = {"T": [template], "A": found, "E": [error], "W": [want]}
        for name, kind, pattern in LANGUAGE:
            language[name] += any(re.search(pattern, text) for text in where[kind])
    return functions, language, total


def group(name):
    return "text/template" if name in BUILTINS else "Helm" if name in HELM else "Sprig"


def text_of(functions, language, total):
    lines = ["# What the stored cases cover", "",
             f"Made by `tools/functions.py` from the {total} cases in `tests/data/template` (`*.test`, `functions.jsonl`), whose",
             "answers come from the engine of Helm v4.2.4 and which `make test` compares without Go. A gate fails when a function or",
             f"a part of the language has fewer than {LEAST}. Random templates (`make conformance T=template`) come on top.", "",
             f"## Functions ({len(functions)})", "", "| function | of | cases |", "| --- | --- | ---: |"]
    lines += [f"| `{name}` | {group(name)} | {n} |" for name, n in sorted(functions.items(), key=lambda x: x[0].lower())]
    lines += ["", f"## Language ({len(language)})", "", "| part | cases |", "| --- | ---: |"]
    lines += [f"| {name} | {n} |" for name, n in language.items()]
    return "\n".join(lines) + "\n"


def main():
    functions, language, total = count()
    text = text_of(functions, language, total)
    if sys.argv[1:] != ["check"]:
        TABLE.write_text(text)
        return 0
    bad = [f"{name} has {n} cases, fewer than {LEAST}" for name, n in [*functions.items(), *language.items()] if n < LEAST]
    if not TABLE.exists() or TABLE.read_text() != text:
        bad.append("docs/functions.md is not what tools/functions.py writes now")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
