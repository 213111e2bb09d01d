"""The program that agents run: `run.py HANSEI_HOME AGENT EVENT`, with the hook's input on stdin.

It ends with 0 whatever happens. Nothing that an agent, a disk, an upgrade or a person does to it
may reach the agent: no exit code, no word on stderr, no waiting. All it does itself is to find the
rest, because only what is imported is compiled once and for all.
"""

import os
import sys

if __name__ == "__main__":
    try:
        # Started by path and without site: the package lies two folders up.
        sys.path.append(os.path.abspath(__file__).rsplit(os.sep, 3)[0])
        from hansei.hook.record import main

        main(sys.argv[1:])
    except BaseException:  # noqa: BLE001, S110 - whatever it was, it must not reach the agent
        pass
    os._exit(0)  # without the interpreter's farewell, which takes as long as all the rest
