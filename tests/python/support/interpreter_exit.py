"""Programs whose interpreter exits while our requests are in flight."""

from __future__ import annotations

import subprocess
import sys

START = """
import asyncio, logging, threading, time, warnings
import dataaccess as da
warnings.simplefilter("ignore", da.SandboxWarning)
everything = da.after("2024-01-01")
"""
WORKS = {
    "daemons": """
client = da.Client("sandbox:demo?until=2024-02-29")
def work():
    while True:
        client.search_codes(allocated_time=everything)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep({pause})
""",
    "threads": """
client = da.Client("sandbox:demo?until=2024-02-29")
end = time.monotonic() + {pause}
def work():
    while time.monotonic() < end:
        client.search_codes(["id"], allocated_time=everything)
for _ in range(3):
    threading.Thread(target=work).start()
""",
    "loop": """
client = da.AsyncClient("sandbox:demo?until=2024-02-29")
async def main():
    for _ in range(20):
        asyncio.ensure_future(client.search_codes(allocated_time=everything))
    await asyncio.sleep({pause})
asyncio.run(main())
""",
    "open loop": """
client = da.AsyncClient("sandbox:demo?until=2024-02-29")
loop = asyncio.new_event_loop()
loop.set_exception_handler(lambda *_: None)
tasks = [loop.create_task(client.search_codes(allocated_time=everything)) for _ in range(20)]
loop.run_until_complete(asyncio.sleep({pause}))
""",
    # The token is a good one: on a busy machine the call may end before the program, and must end well.
    "token": """
service = da.Sandbox.demo(until="2024-02-29")
good = service.issue_token()
def token():
    time.sleep({pause})
    return good
client = da.Client(service.base_url, token=token)
threading.Thread(target=client.download_segment, args=(5637051,), daemon=True).start()
time.sleep({pause} / 2)
""",
    "stream": """
batches = da.Client("sandbox:demo?until=2024-02-29").scan_codes(allocated_time=everything).batches(max_rows=100)
next(batches)
time.sleep({pause})
""",
    "logging": """
logging.basicConfig(filename="/dev/null", level=logging.DEBUG)
client = da.AsyncClient("sandbox:demo?until=2024-02-29")
def work():
    async def main():
        while True:
            await asyncio.gather(*(client.search_codes(["id"], allocated_time=everything) for _ in range(4)))
    asyncio.run(main())
threading.Thread(target=work, daemon=True).start()
time.sleep({pause})
""",
}


def ended(work: str, pause: float) -> tuple[int, str]:
    """Runs a program to its end: its return code and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", START + WORKS[work].format(pause=pause)],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )
    return done.returncode, done.stderr
