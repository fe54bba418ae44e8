#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a table: the work of table_answer() in tests/lib/table.sh.

    table_run.py BASE PROGRAM REGEX <TOPIC.cases

BASE/files is what the commands find, in BASE/work. What a case changed there is put back for the next one: comparing costs a
fraction of a fresh copy. BASE/said gets "cases" ("STATUS LINE"), N.out and N.err. Lines that are one plain command are
started here, without a shell.
"""
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.sh")
PLAIN = re.compile(r"helm( +([-\w./:@%+=,^]+|'[^']*'|\"[^\"$`\\!]*\"))*")
# May the line change files? Commands that only read are not looked after.
WRITES = re.compile(r"[>;&]|package| update| build|pull| -u |output-dir|dependency-update")
UNSET = ("HELM_NAMESPACE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def look(folder):
    """path -> what tells that it is as it was; folders before what is in them."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            s = os.lstat(path)
            key = (stat.S_IFMT(s.st_mode), s.st_mode)
            if not stat.S_ISDIR(s.st_mode):
                key += (s.st_size, s.st_mtime_ns, s.st_ino)
            found[os.path.relpath(path, folder)] = key
    return found


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        subprocess.run(["chmod", "-R", "u+rwx", path], check=True)
        shutil.rmtree(path)
    else:
        os.unlink(path)


def copy(source, to):
    """As cp -a does it."""
    if os.path.isdir(source) and not os.path.islink(source):
        os.mkdir(to)
        shutil.copystat(source, to)
    else:
        shutil.copy2(source, to, follow_symlinks=False)


class Table:
    def __init__(self, base, program):
        self.base, self.program = base, program
        self.work, self.home = os.path.join(base, "work"), os.path.join(base, "home")
        subprocess.run(["cp", "-a", os.path.join(base, "files"), self.work], check=True)
        self.fresh = look(self.work)
        self.env = {k: v for k, v in os.environ.items() if k not in UNSET}
        self.env.update(HOME=self.home, TZ="UTC", HELM_CACHE_HOME=self.home + "/cache",
                        HELM_CONFIG_HOME=self.home + "/config", HELM_DATA_HOME=self.home + "/data",
                        KUBECONFIG=self.home + "/kubeconfig")

    def put_back(self):
        now = look(self.work)
        wrong = [path for path, key in now.items() if self.fresh.get(path) != key]
        for path in wrong:
            if os.path.lexists(os.path.join(self.work, path)):
                remove(os.path.join(self.work, path))
        for path in self.fresh:
            if not os.path.lexists(os.path.join(self.work, path)):
                copy(os.path.join(self.base, "files", path), os.path.join(self.work, path))
        if wrong or len(now) != len(self.fresh):
            self.fresh = look(self.work)

    def run(self, line, out, err):
        if os.listdir(self.home):
            shutil.rmtree(self.home)
            os.mkdir(self.home)
        if PLAIN.fullmatch(line):
            command = [self.program] + shlex.split(line)[1:]
        else:
            command = ["bash", "-c", '. "$1" && table_run "$2" "$3" "$4"', "bash", LIBRARY, self.program, self.base, line]
        status = subprocess.run(command, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                check=False).returncode
        return 128 - status if status < 0 else status


def main():
    base, program, only = sys.argv[1:]
    table, said = Table(base, program), os.path.join(base, "said")
    lines = [line for line in sys.stdin.read().split("\n") if line and not line.startswith("#") and re.search(only, line)]
    with open(os.path.join(said, "cases"), "w", encoding="utf-8") as cases:
        for number, line in enumerate(lines, 1):
            with open(os.path.join(said, "%d.out" % number), "wb") as out, \
                    open(os.path.join(said, "%d.err" % number), "wb") as err:
                cases.write("%d %s\n" % (table.run(line, out, err), line))
            if WRITES.search(line):
                table.put_back()


main()
