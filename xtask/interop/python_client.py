"""PyPI mcp: both eras, finding the modern one by itself."""

import argparse
import asyncio
import json
import sys
import traceback
import warnings

from mcp import StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning
from python_chat import chat
from python_everything import everything
from python_harness import REVISIONS, Checks
from python_specs import specs
from python_starmap import starmap
from python_universe import universe

SCENARIOS = {
    "universe": universe,
    "specs": specs,
    "everything": everything,
    "starmap": starmap,
    "chat": chat,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--url")
    target.add_argument("--command", nargs=argparse.REMAINDER)
    parser.add_argument("--scenario", choices=SCENARIOS, default="universe")
    parser.add_argument("--era", choices=REVISIONS, default="legacy")
    parser.add_argument("--suffix", default="x")
    options = parser.parse_args()
    # The legacy era is deprecated as a whole, which is no news here.
    warnings.simplefilter("ignore", MCPDeprecationWarning)

    if options.url:
        server = options.url
    else:
        server = StdioServerParameters(command=options.command[0], args=options.command[1:])
    transport = "http" if options.url else "stdio"
    head = {"client": "python", "scenario": options.scenario, "era": options.era, "transport": transport}
    check = Checks()
    scenario = SCENARIOS[options.scenario](server, options.era, options.suffix, check)
    try:
        facts = asyncio.run(asyncio.wait_for(scenario, 90))
    except BaseException as error:
        traceback.print_exc()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(json.dumps({**head, "ok": False, "error": str(error) or type(error).__name__}))
        return 1
    facts = {"version": REVISIONS[options.era], **facts, "checks": check.count, "cannot": check.cannot}
    print(json.dumps({**head, "ok": True, **facts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
