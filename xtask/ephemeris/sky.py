"""The table of truth for the demo universe: where the planets, the Moon and Jupiter's moons were and will be.

Needs `astronomy-engine` (MIT), which has its own series and downloads nothing:

    python3 -m venv /tmp/sky && /tmp/sky/bin/pip install astronomy-engine==2.1.19
    /tmp/sky/bin/python xtask/ephemeris/sky.py > server/tests/sky.csv

Each line has a date (UTC) and, for each body, ecliptic longitude and latitude of J2000 in degrees, geometric, without
light time: planets and Pluto as seen from the Sun, the Moon from the Earth, Jupiter's moons from Jupiter.
"""

import math
import random
from datetime import datetime, timedelta, timezone

import astronomy

PLANETS = ["mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto"]
GALILEAN = ["io", "europa", "ganymede", "callisto"]
# Days that people look up: two eclipses of the Sun, an epoch, a round number.
KNOWN = ["2000-01-01T12:00:00Z", "2024-04-08T18:00:00Z", "2026-08-12T17:45:00Z", "2026-11-27T00:00:00Z"]
DATES = 200
ECLIPTIC = astronomy.Rotation_EQJ_ECL()


def direction(vector):
    turned = astronomy.RotateVector(ECLIPTIC, vector)
    longitude = math.degrees(math.atan2(turned.y, turned.x)) % 360
    latitude = math.degrees(math.atan2(turned.z, math.hypot(turned.x, turned.y)))
    return f"{longitude:.3f},{latitude:.3f}"


def dates():
    random.seed(41)
    begin = datetime(1950, 1, 1, tzinfo=timezone.utc)
    seconds = (datetime(2050, 1, 1, tzinfo=timezone.utc) - begin).total_seconds()
    drawn = [begin + timedelta(seconds=random.randrange(int(seconds))) for _ in range(DATES - len(KNOWN))]
    return sorted(KNOWN + [date.strftime("%Y-%m-%dT%H:%M:%SZ") for date in drawn])


def main():
    names = PLANETS + ["moon"] + GALILEAN
    print("date," + ",".join(f"{name},{name} latitude" for name in names))
    for date in dates():
        time = astronomy.Time.Parse(date)
        bodies = [getattr(astronomy.Body, name.capitalize()) for name in PLANETS]
        seen = [astronomy.HelioVector(body, time) for body in bodies]
        seen.append(astronomy.GeoMoon(time))
        moons = astronomy.JupiterMoons(time)
        for name in GALILEAN:
            state = getattr(moons, name)
            seen.append(astronomy.Vector(state.x, state.y, state.z, time))
        print(date + "," + ",".join(direction(vector) for vector in seen))


main()
